import UndeadSystem

/// The sentence about a use of a dead object, and the parts that it is made of.
struct ZombieMessage {
  /// A thread as the report names it.
  struct Thread: Equatable {
    var name: String
    /// False for a number.
    var isNamed: Bool

    /// As part of a sentence: `thread "worker"`.
    var text: String { isNamed ? "thread \"\(name)\"" : "thread \(name)" }
  }

  let event: ZombieLog.Event
  let kind: String
  let type: String
  /// The method or field; nil if it is not known.
  let member: String?
  let thread: Thread
  /// nil if it is not known when the object died.
  let deathThread: Thread?
  /// From the death to the use, in nanoseconds; nil if it is not known.
  let age: UInt64?

  init(event: ZombieLog.Event, kind: String, type: String, member: String?, log: ZombieLog, program: String) {
    self.event = event
    self.kind = kind
    self.type = type
    self.member = member
    let isKnown = event.deathTime != 0
    var (use, death) = (
      Self.thread(event.thread, event.threadName, log, program),
      Self.thread(event.deathThread, event.deathThreadName, log, program)
    )
    if isKnown, use == death, event.thread != event.deathThread {
      use.name += " \(event.thread)"
      death.name += " \(event.deathThread)"
    }
    (thread, deathThread) = (use, isKnown ? death : nil)
    age = isKnown ? (event.accessTime > event.deathTime ? event.accessTime - event.deathTime : 0) : nil
  }

  /// Hexadecimal, with `0x`.
  var address: String { "0x" + String(event.object, radix: 16) }

  /// The whole sentence, without `zombie: ` in front.
  var text: String { use + death }

  /// What else is known, in one sentence; nil if there is nothing.
  var details: String? {
    let isRace = event.flags & 64 != 0
    let race = isRace ? deathThread.map { "race: freed on \($0.text) while \(thread.text) used it" } : nil
    let parts = [race, event.details.isEmpty ? nil : event.details].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  private static func thread(_ number: Int32, _ name: String, _ log: ZombieLog, _ program: String) -> Thread {
    if number == log.pid { return Thread(name: "main", isNamed: true) }
    // A thread without a name of its own has that of the program.
    if name.isEmpty || name == String(program.prefix(ThreadName.longest)) {
      return Thread(name: "\(number)", isNamed: false)
    }
    return Thread(name: ThreadName.readable(name), isNamed: true)
  }

  private var use: String {
    if event.flags & 128 != 0 {
      let access = event.flags & 1 != 0 ? "write to" : "read of"
      let operation = ["retain", "release", "cast"].contains(kind) ? "\(kind) of" : access
      return "\(operation) what lay at \(address): it was freed, and its memory used again, so its type is not known "
        + "any more"
    }
    // Of a message to a class nobody knows which object it came from.
    let object = "freed \(type == "closure" ? "closure or box" : type)" + (event.object == 0 ? "" : " \(address)")
    switch kind {
    case "method":
      let accessor = Self.accessors[event.accessor].map { " (\($0))" } ?? ""
      let isOfClass = event.flags & 2 != 0
      return "\(member ?? "message")\(accessor) sent to \(isOfClass ? "the class of " : "")\(object)"
    case "release": return "\(type == "raw memory" ? "second deallocation" : "release") of \(object)"
    case "retain": return "retain of \(object)"
    case "field":
      let operation = event.flags & 1 != 0 ? "write to" : "read of"
      return "\(operation) \(member ?? event.fieldOffset.map { "the word at offset \($0)" } ?? "a field") of \(object)"
    case "overflow":
      // The number that means no field elsewhere is that of the byte in front.
      let offset = event.fieldOffset.map { Int32(bitPattern: $0) } ?? -1
      return "\(event.flags & 1 != 0 ? "write" : "read") at offset \(offset), "
        + "\(offset < 0 ? "in front of" : "behind the end of") "
        + (age == nil ? "\(type) \(address)" : object)
    case "unowned":
      let field = event.field.isEmpty ? "" : member.map { "\($0) " } ?? ""
      return "unowned reference \(field)to \(object) was used"
    case "cast": return "cast of \(object)"
    case "closure": return "use of \(object)"
    case "escape": return "\(type) \(address) is deallocated, but a reference taken during its deinit is left"
    case "timerTarget": return (member.map { "\($0) is due" } ?? "timer fired") + " for \(object)"
    default: return "use of \(object)"
    }
  }

  private static let accessors: [UInt32: String] = [
    1: "initializer", 2: "getter", 3: "setter", 4: "modify", 5: "read",
  ]

  /// " (freed 12 ms ago on thread "worker")".
  private var death: String {
    guard let age, let deathThread else { return "" }
    let place =
      deathThread == thread && event.thread == event.deathThread ? "on the same thread" : "on \(deathThread.text)"
    return " (freed \(Self.duration(age)) ago \(place))"
  }

  private static func duration(_ nanoseconds: UInt64) -> String {
    let milliseconds = nanoseconds / 1_000_000
    return milliseconds == 0 ? "less than 1 ms" : Quantity.duration(Double(milliseconds) / 1000)
  }
}
