import UndeadReport

/// Options of the verbs that can look for uses of dead objects.
struct ZombieOptions: ParsableArguments {
  enum Mode: String, ExpressibleByArgument, CaseIterable {
    case keep
    case `guard`
    /// A random sample of the objects is watched.
    case sampled
  }
  enum Policy: String, ExpressibleByArgument, CaseIterable { case trap, report }

  @Flag("--zombies", help: "Report uses of deallocated objects.", brief: "report uses of deallocated objects, too")
  var zombies = false

  @Option(
    "--zombie-mode <keep|guard|sampled>",
    help: "keep (the default of --zombies); guard, which also protects the memory of deallocated objects: it catches "
      + "uses of fields in optimised code, and is slower; or sampled, which watches one object in many, at no cost "
      + "that shows. sampled records nothing else, unless --sample or --stacks is given. Implies --zombies.")
  var zombieMode: Mode?

  @Option(
    "--zombie-policy <trap|report>",
    help: "What a zombie does: trap (the program ends there) or report (it goes on as well as it can). Default: trap, "
      + "with --zombie-mode sampled report.")
  var zombiePolicy: Policy?

  @Option(
    "--zombie-rate <objects>", help: "Watch one of so many objects, by default 1000; implies --zombie-mode sampled.")
  var zombieRate: UInt32?

  @Option(
    "--zombie-types <types>",
    help: "Watch all objects of these types and their subclasses, beside the sample; implies --zombie-mode sampled.")
  var zombieTypes: String?

  @Option(
    "--zombie-bytes <size>", help: "Memory for deallocated objects, such as 64MB (the default).",
    transform: ZombieOptions.parseSize)
  var zombieBytes: UInt64?

  @Option(
    "--zombie-count <objects>",
    help:
      "Most deallocated objects that are kept, by default a million; with --zombie-mode sampled the number of pages "
      + "for watched objects that are dead, by default 256.")
  var zombieCount: UInt64?

  @Option(
    "--zombie-age <time>", help: "How long deallocated objects are kept, such as 500ms or 10s; no limit by default.",
    transform: ZombieOptions.parseTime)
  var zombieAge: UInt64?

  @Option(
    "--zombie-allow <types>",
    help:
      "Keep only deallocated objects of these types and their subclasses: 'App.Poller', 'Poller' or 'App.*', separated by "
      + "commas.")
  var zombieAllow: String?

  @Option("--zombie-deny <types>", help: "Do not keep deallocated objects of these types and their subclasses.")
  var zombieDeny: String?

  @Option(
    "--zombie-guard <types>",
    help: "Protect only objects of these types and their subclasses; implies --zombie-mode guard.")
  var zombieGuard: String?

  func validate() throws {
    if zombieGuard != nil, zombieMode == .keep {
      throw ValidationError("--zombie-guard and --zombie-mode keep: give only one of them")
    }
    if isSampled, zombieGuard != nil || ![nil, .sampled].contains(zombieMode) {
      throw ValidationError("--zombie-rate, --zombie-types and --zombie-mode sampled go with no other mode")
    }
    if isSampled, let option = [("bytes", zombieBytes), ("age", zombieAge)].first(where: { $0.1 != nil }) {
      throw ValidationError("--zombie-\(option.0) has no effect on --zombie-mode sampled; --zombie-count has")
    }
    guard zombieRate != 0 else { throw ValidationError("--zombie-rate 0: give 1 or more") }
    let others: [(String, Bool)] = [
      ("--zombie-policy", zombiePolicy != nil), ("--zombie-bytes", zombieBytes != nil),
      ("--zombie-count", zombieCount != nil), ("--zombie-age", zombieAge != nil),
      ("--zombie-allow", zombieAllow != nil), ("--zombie-deny", zombieDeny != nil),
    ]
    if !isOn, let option = others.first(where: \.1) {
      throw ValidationError("\(option.0) has no effect without --zombies; add it")
    }
  }

  var isOn: Bool { zombies || zombieMode != nil || zombieGuard != nil || isSampled }

  /// True if only a sample of them is.
  var isSampled: Bool { zombieMode == .sampled || zombieRate != nil || zombieTypes != nil }

  /// What the library in the program reads from its environment (`Documentation/options.md`).
  var settings: [String: String] {
    guard isOn else { return [:] }
    let isGuarding = zombieMode == .guard || zombieGuard != nil
    var settings = ["UNDEAD_ZOMBIES": isSampled ? "sampled" : isGuarding ? "guard" : "1"]
    if let zombiePolicy { settings["UNDEAD_ZOMBIE_POLICY"] = zombiePolicy.rawValue }
    let numbers = [
      ("BYTES", zombieBytes), ("COUNT", zombieCount), ("AGE", zombieAge), ("RATE", zombieRate.map(UInt64.init)),
    ]
    for (name, value) in numbers {
      if let value { settings["UNDEAD_ZOMBIE_\(name)"] = "\(value)" }
    }
    let lists = [("ALLOW", zombieAllow), ("DENY", zombieDeny), ("GUARD", zombieGuard), ("TYPES", zombieTypes)]
    for (name, types) in lists {
      if let types { settings["UNDEAD_ZOMBIE_\(name)"] = types }
    }
    return settings
  }

  /// True if the program goes on after a use of a dead object.
  var goesOn: Bool { settings["UNDEAD_ZOMBIE_POLICY"] == "report" || settings["UNDEAD_ZOMBIES"] == "sampled" }

  // MARK: Text

  /// Bytes of "100000", "64KB", "64MB", "1GB"; 1 KB is 1024 bytes.
  @Sendable static func parseSize(_ text: String) throws -> UInt64 {
    try Amount.parse(text, Amount.sizes, example: "64MB")
  }

  /// Milliseconds of "500ms", "10s" or "5min".
  @Sendable static func parseTime(_ text: String) throws -> UInt64 {
    guard text.last?.isLetter ?? false else {
      throw ValidationError("'\(text)': give a time with its unit, like 500ms")
    }
    return try Amount.parse(text, Amount.times, example: "500ms")
  }
}
