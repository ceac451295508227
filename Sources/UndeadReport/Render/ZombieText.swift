/// The block of one zombie in a text report: what happened, then where the object was used, freed and allocated.
enum ZombieText {
  static func block(_ zombie: Zombie, _ options: TextOptions) -> [String] {
    let times = zombie.count == 1 ? "" : ", \(zombie.count) times"
    var lines = [
      TextStyle.alarm.apply("zombie:", options) + " " + TextStyle.heading.apply(zombie.message + times, options)
    ]
    if let details = zombie.details { lines += StackText.wrapped(details, width: width).map { "  \($0)" } }
    let threads = [zombie.thread, zombie.deallocationThread]
    for (name, backtrace, thread) in [
      ("used       ", userFirst(zombie.access), threads[0]),
      ("freed      ", userFirst(Backtrace(frames: Array(zombie.deallocation.framesAfterDeinit))), threads[1]),
      ("allocated  ", userFirst(zombie.allocation), nil),
    ] {
      lines.append("")
      lines.append("  \(name)" + place(backtrace, options) + (thread.map { ", thread \($0)" } ?? ""))
      guard options.stacks else { continue }
      let stack = StackText.lines(backtrace, options)
      if stack.count > 1 { lines += stack }
    }
    if let advice = zombie.advice {
      let rows = StackText.wrapped(advice, width: width)
      lines += ["", "  " + TextStyle.good.apply("advice", options) + "     " + (rows.first ?? "")]
      lines += rows.dropFirst().map { "             " + $0 }
    }
    return lines + [""]
  }

  private static let width = 100

  private static func place(_ backtrace: Backtrace, _ options: TextOptions) -> String {
    guard let frame = backtrace.frames.first else { return TextStyle.faint.apply("at an unknown place", options) }
    return "in " + StackText.function(frame) + StackText.place(frame, options)
  }

  /// Without what the runtime and libraries did inside of the first call of the program's.
  private static func userFirst(_ backtrace: Backtrace) -> Backtrace {
    let own = backtrace.frames.firstIndex { !$0.system && !SymbolText.isAllocatingInitializer($0.symbol) }
    return Backtrace(frames: Array(backtrace.frames[(own ?? 0)...]))
  }
}

extension FailureText {
  /// The message for a use of a dead object; `directory` as for a leak.
  package static func text(_ zombie: Zombie, directory: String = "") -> String {
    var options = TextOptions(stacks: false)
    options.directory = directory
    return ZombieText.block(zombie, options).filter { !$0.isEmpty }.joined(separator: "\n")
  }
}
