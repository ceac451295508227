import UndeadSystem

/// Copies of which the program has not taken note.
enum Leftovers {
  struct Copy {
    /// As the program numbers it.
    let number: pid_t
    let hasEnded: Bool
  }

  /// What a copy calls itself.
  static let name = "undead-copy"

  /// Those of a program.
  ///
  /// - Parameter since: in clock ticks since the machine started; then also copies that had no time to give themselves their name.
  static func of(_ pid: pid_t, since: UInt64? = nil) -> [Copy] {
    ProcFile.numbers(in: "/proc").compactMap { child in
      guard let facts = Facts(child), facts.parent == pid, facts.endSignal == 0,
        facts.name == name || since.map({ facts.start >= $0 }) ?? false
      else { return nil }
      return number(of: child, in: pid).map { Copy(number: $0, hasEnded: facts.state == "Z") }
    }
  }

  /// The number of a process in the PID namespace of another one.
  private static func number(of child: pid_t, in pid: pid_t) -> pid_t? {
    guard let depth = ProcFile.status("NSpid", of: pid)?.split(separator: "\t").count,
      let numbers = ProcFile.status("NSpid", of: child)?.split(separator: "\t"), numbers.count >= depth, depth > 0
    else { return nil }
    return pid_t(numbers[depth - 1])
  }

  /// What `/proc/PID/stat` shows.
  struct Facts {
    let name: String
    let state: Character
    let parent: pid_t
    let start: UInt64
    /// The signal that the parent gets at the end; 0 for none.
    let endSignal: Int32

    init?(_ pid: pid_t) {
      guard let text = ProcFile.text("/proc/\(pid)/stat"), let open = text.firstIndex(of: "("),
        let close = text.lastIndex(of: ")")
      else { return nil }
      // Field 3 comes after the name.
      let fields = text[text.index(after: close)...].split(separator: " ")
      guard fields.count > 35, let state = fields[0].first, let parent = pid_t(fields[1]),
        let start = UInt64(fields[19]), let signal = Int32(fields[35])
      else { return nil }
      name = String(text[text.index(after: open)..<close])
      self.state = state
      self.parent = parent
      self.start = start
      endSignal = signal
    }
  }
}
