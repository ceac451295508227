import UndeadSystem

/// Has a program take note of the ends of copies, which it does not know of.
struct Reaper {
  private let program: TargetProgram
  /// Of wait4, but for the process: __WALL and WNOHANG, as nobody is notified of a copy's end.
  static let waiting: [UInt64] = [0, 0, 0x4000_0001, 0]

  init(_ program: TargetProgram) { self.program = program }

  /// One thread of the program stands still for a moment, and makes one call; again, for some seconds, as long as none has
  /// come to stand in time or the copy's end has not arrived there.
  ///
  /// - Parameters:
  ///   - number: of the copy, as the program numbers it.
  ///   - paused: grows by the nanoseconds that the thread stood still.
  /// - Returns: false if the program has still not taken note.
  func reap(_ number: pid_t, _ paused: inout UInt64) -> Bool {
    guard number > 0 else { return true }
    let end = TracedThread.deadline(5)
    while !hasNoted(number, &paused) {
      guard SystemClock.now() < end else { return false }
      usleep(5000)
    }
    return true
  }

  /// False if it is worth another attempt.
  private func hasNoted(_ number: pid_t, _ paused: inout UInt64) -> Bool {
    let call = SurvivableCall(library: program.library, memory: program.memory)
    let maps = MemoryMap(process: program.anchor) ?? .unknown
    let threads = ProcFile.liveThreads(of: program.pid)
    for tid in threads {
      let start = SystemClock.now()
      guard let thread = try? TracedThread.seize(tid) else { continue }
      defer { thread.detach() }
      guard thread.standStill(by: TracedThread.deadline(0.2)), thread.isAlive else { continue }
      Interruption.repair(thread)
      defer { Interruption.settle(thread) }
      guard let registers = try? thread.registers(), SurvivableCall.fits(registers, in: maps),
        let state = try? call.prepare(thread)
      else { continue }
      let noted = try? call.run(
        SystemCall.wait4, [UInt64(number)] + Self.waiting.dropFirst(), on: thread, state, by: TracedThread.deadline(5))
      try? call.finish(thread, state)
      paused += SystemClock.now() - start
      // 0: it has not ended for the program yet.
      return noted != 0
    }
    return threads.isEmpty
  }
}

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
