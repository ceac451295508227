import UndeadReport

/// What can be found, as the rules of a SARIF log: one for each kind of finding.
package struct SARIFRules {
  /// In the order of their indices.
  package private(set) var rules: [SARIF.Rule]

  /// All kinds that are known, so that a rule has the same index in every log.
  package init() {
    rules = Self.known
  }

  /// The position of a rule; one that is not known is added.
  ///
  /// - Parameters:
  ///   - title: what is found, in a few words.
  mutating func index(of id: String, title: String, level: SARIF.Level) -> Int {
    if let index = rules.firstIndex(where: { $0.id == id }) { return index }
    rules.append(Self.rule(id, level, title, title, "See the report's text."))
    return rules.count - 1
  }

  /// Of the use of an object that is dead; its kind is in the properties.
  package static let zombie = "zombie"
  /// Of a container that grew more than it may.
  package static let growth = "growth"

  private static let known: [SARIF.Rule] =
    [
      rule(
        "retainCycle", .error, "Retain cycle",
        "Objects hold each other by strong references, and nothing else refers to them: they are never deallocated.",
        "Declare the reference that leads back `weak`, or `unowned` if it never outlives what it refers to. A closure "
          + "captures `[weak self]`. Where the cycle is on purpose, break it when the work is done."),
      rule(
        "unreferenced", .error, "Object that nothing refers to",
        "An object, raw memory or a suspended task is still allocated, and no reference to it is left.",
        "Balance each retain (`Unmanaged`, C code) with a release, deallocate what was allocated by hand, and resume "
          + "every continuation exactly once."),
      rule(
        "abandoned", .error, "Object that outlives its scope",
        "The scope that owned the object has ended, and something reachable still holds it.",
        "The retain path names the field that holds the object: clear it when the scope ends, or make it `weak`."),
      rule(
        zombie, .error, "Use of a dead object",
        "An object was used after it was deallocated: its memory may have been given to something else.",
        "Hold the object strongly as long as it is used: replace `unowned(unsafe)` and `Unmanaged` references, and stop "
          + "what still calls it before it goes."),
      rule(
        growth, .warning, "Container that grows",
        "More and more objects are kept by one field.",
        "Remove what is not needed any more, or bound the collection."),
    ]
    + SuspectWords.all.map { words in
      let title = words.title.prefix(1).uppercased() + words.title.dropFirst()
      return rule(words.kind.rawValue, .warning, title, words.description, words.help)
    }

  private static func rule(
    _ id: String, _ level: SARIF.Level, _ title: String, _ description: String, _ help: String
  ) -> SARIF.Rule {
    SARIF.Rule(
      id: id, name: id.prefix(1).uppercased() + id.dropFirst(), shortDescription: SARIF.Message(title),
      fullDescription: SARIF.Message(description), help: SARIF.Message(help, markdown: Markup(verbatim: help)),
      defaultConfiguration: SARIF.Configuration(level: level),
      properties: [
        "tags": .array([.string("memory"), .string("reliability")]),
        "precision": .string(level == .error ? "very-high" : "medium"),
        "problem.severity": .string(level == .note ? "recommendation" : level.rawValue),
      ])
  }
}
