import Testing

@testable import UndeadReport

@Suite struct SuppressionTests {
  static func rules(_ text: String) throws -> Suppressions {
    var suppressions = Suppressions()
    try suppressions.add(text, file: "app.supp")
    return suppressions
  }

  static func report(_ heap: SyntheticHeap, _ text: String) throws -> LeakReport {
    try heap.report(ReportOptions(suppressions: rules(text)))
  }

  @Test(arguments: [
    "leak:makePair", "leak:^App.makePair()$", "leak:App.*Pair", "leak:main.swift", "leak:^App$", "leak:*",
    "type:App.Child", "type:^App.Owner$", "field:owner", "field:^App.Child.owner$", "module:^App$", "module:App",
  ])
  func matchingRuleTakesTheGroupOut(rule: String) throws {
    let report = try Self.report(Scenario.pair(), rule + " # of old times")
    #expect(report.leaks.isEmpty)
    #expect(report.summary.suppressed == 1)
    #expect(report.summary.leakedObjects == 0)
    #expect(!report.fails())
    #expect(report.summary.notes == ["suppressed 1 group by \(rule) (app.supp:1): of old times"])
  }

  /// Which element it is differs from run to run; who called the initialiser is what a reader looks for.
  @Test func whatIsProposedHoldsForAnyElement() throws {
    func leaking(_ position: Int) -> SyntheticHeap {
      var heap = SyntheticHeap()
      let made = [
        SyntheticHeap.Function.app("App.Owner.__allocating_init() -> App.Owner", "/app/Owner.swift", 1),
        .app("App.load() -> ()", "/app/main.swift", 5),
      ]
      let owner = heap.object("App.Owner", at: made)
      let child = heap.object("App.Child", at: made)
      heap.link(owner, "children[\(position)].item", child)
      heap.link(child, "owners[\(position)].item", owner)
      return heap
    }
    let lines = try SuppressionProposal.lines(for: leaking(2).report())
    #expect(lines.count == 1)
    #expect(lines[0].hasPrefix("field:^App.") && lines[0].hasSuffix("[*].item$  # once, allocated in App.load() -> ()"))
    #expect(try Self.report(leaking(17), lines[0]).leaks.isEmpty)
  }

  /// The reference to change, as the report underlines it; of what the runtime makes, the function of the user's.
  @Test(arguments: [
    (Scenario.pair(), "field:^App.Child.owner$"),
    (Scenario.task(), "leak:^App.Mailbox.next()$"),
  ])
  func whatIsProposedTakesOutThisLeakAlone(heap: SyntheticHeap, rule: String) throws {
    let lines = try SuppressionProposal.lines(for: heap.report())
    #expect(lines.map { $0[..<($0.firstRange(of: "  # ")?.lowerBound ?? $0.endIndex)] } == [rule[...]])
    let report = try Self.report(heap, lines.joined())
    #expect(report.leaks.isEmpty && report.summary.suppressed == 1)
  }

  /// Types that the program declares in extensions of others are its own.
  @Test func whatTheRuntimeMakesHasNoModule() {
    for type in ["Task", "raw memory", "closure context (captures App.Owner)", "async frames"] {
      #expect(TypeName.isOfRuntime(type), "\(type)")
    }
    for type in ["App.Owner", "App.Box<() -> ()>", "(extension in App):Swift.Result.Inner"] {
      #expect(!TypeName.isOfRuntime(type), "\(type)")
    }
  }

  @Test func aCycleThatAFrameNamesIsSuppressedByItsFields() throws {
    let report = try Self.report(Scenario.cyclesOfFrames(), "field:^App.Child.parent$")
    #expect(report.summary.suppressed == 1)
    #expect(report.suspects.allSatisfy { $0.objects.first?.type != "App.Parent" })
  }

  @Test(arguments: [
    "leak:^makePair", "leak:App$Pair", "leak:other", "type:App.Chil$", "field:^child.owner", "module:^Own$",
    "module:libswiftCore",
  ])
  func otherRulesAreUnused(rule: String) throws {
    let report = try Self.report(Scenario.pair(), "# a comment\n\n" + rule)
    #expect(report.leaks.count == 1)
    #expect(report.summary.suppressed == 0)
    #expect(
      report.summary.notes == ["unused suppression \(rule) (app.supp:3): remove it, or check its spelling"])
  }

  @Test func numberOfAClosureIsNoReason() throws {
    let rules = try Self.rules("leak:closure #1 in App.spawn()  # known to us\nleak:x #\nleak:y#z")
    #expect(rules.rules.map(\.pattern) == ["closure #1 in App.spawn()", "x", "y#z"])
    #expect(rules.rules.map(\.reason) == ["known to us", nil, nil])
    #expect(try Self.report(Scenario.task(), "leak:closure #1 in App.spawn() # why").leaks.isEmpty)
  }

  @Test func suspectsAreSuppressedToo() throws {
    let report = try Self.report(Scenario.suspects(), "type:App.Clock\nfield:App.Badge.token")
    #expect(report.suspects.count == 2)
    #expect(report.summary.suppressed == 2)
  }

  @Test(arguments: [
    ("leak:a\nrubbish", "app.supp:2: \"rubbish\" does not say what it suppresses"),
    (
      "race:a",
      "app.supp:1: \"race:\" is not a kind of suppression; use one of `leak:`, `type:`, `field:`, `module:`, `zombie:`, "
        + "`zombie-type:`, `zombie-kind:`"
    ),
    ("\n\ntype:   # why", "app.supp:3: the pattern after \"type:\" is empty"),
  ])
  func errorNamesTheLine(text: String, message: String) {
    #expect {
      try Self.rules(text)
    } throws: { error in
      "\(error)".hasPrefix(message)
    }
  }

  @Test(arguments: [
    ("abc", "xabcx", true), ("a*c", "xabbcx", true), ("^abc", "xabc", false), ("^abc", "abcx", true),
    ("abc$", "xabc", true), ("abc$", "abcx", false), ("^abc$", "abc", true), ("^a*c$", "ac", true),
    ("^a*b$", "ab*ab", true), ("*", "", true), ("a*b*c", "acb", false), ("^ab*bc$", "abc", false), ("a$", "", false),
    ("^$", "", true), ("^$", "a", false), ("abcabd", "abcabcabd", true),
  ])
  func patternsAreThoseOfLeakSanitizer(pattern: String, text: String, matches: Bool) {
    #expect(SuppressionPattern(pattern).matches(text) == matches)
  }
}
