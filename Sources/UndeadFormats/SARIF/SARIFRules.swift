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
    + [
      rule(
        "taskOfDeadOwner", .warning, "Task that goes on for an object that is gone",
        "The closure of a task in a loop captured weakly only objects that are deallocated.",
        "Keep the task in a field of its owner and cancel it in `deinit`, or leave the loop when `self` is nil."),
      rule(
        "timerOfDeadOwner", .warning, "Timer that fires for an object that is gone",
        "The handler of a timer that repeats captured weakly only objects that are deallocated.",
        "Cancel the timer in the `deinit` of its owner."),
      rule(
        "observerOfDeadOwner", .warning, "Observer that is registered for an object that is gone",
        "A block registered with NotificationCenter captured weakly only objects that are deallocated.",
        "Call `removeObserver(_:)` with the token in the `deinit` of its owner."),
    ]
    + [
      (
        "heldByTimer", "a timer", "Invalidate the timer when the owner is done, and capture `self` weakly in its block."
      ),
      ("heldByDispatchSource", "a dispatch source", "Cancel the source when the owner is done."),
      ("heldByObserver", "an observer registration", "Remove the observer when the owner is done."),
      ("heldByTask", "a waiting task", "Cancel the task when the owner is done, or let it hold the owner weakly."),
      ("heldByRunLoop", "a run loop", "Invalidate what the run loop holds when the owner is done."),
      ("heldByThread", "a word on a thread's stack", "If the word is out of use, these objects are a retain cycle."),
    ].map { id, holder, help in
      rule(
        id, .warning, "Object held only by \(holder)",
        "The object is reachable only through \(holder)\(id == "heldByThread" ? "" : ", which it holds itself").", help)
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
