/// What is known of the kinds of suspects: a table with a row for each, which builders and texts read.
///
/// A new kind is its name in `LeakReport.Suspect.Kind`, a row here, and its advice.
package struct SuspectWords: Sendable {
  package let kind: LeakReport.Suspect.Kind
  /// In snapshots (`undead_suspect_kind`); nil if more than the number decides.
  let number: UInt32?
  /// What holds the objects, such as "a waiting task"; nil if the object is gone that should have ended it.
  let holder: String?
  /// The same, if it alone keeps an object.
  let alone: String
  /// The same, where it is known which one.
  let mechanism: String
  /// Several of them, in a few words; nil if what they have in common says it.
  let several: String?
  /// What one of them is, in a few words.
  package let title: String
  /// What that means, in a sentence.
  package let description: String
  /// What to do about any of them.
  package let help: String

  /// A row of the table.
  package static func of(_ kind: LeakReport.Suspect.Kind) -> Self? { all.first { $0.kind == kind } }

  /// In the order of the rules of SARIF, which have the same index in every log.
  package static let all: [Self] = [
    goesOn(
      .taskOfDeadOwner, 6, "the task", title: "task that goes on for an object that is gone",
      several: "tasks that go on for objects that are gone",
      description: "The closure of a task in a loop captured weakly only objects that are deallocated.",
      help: "Keep the task in a field of its owner and cancel it in `deinit`, or leave the loop when `self` is nil."),
    goesOn(
      .timerOfDeadOwner, 7, "the timer", title: "timer that fires for an object that is gone",
      several: "timers that fire for objects that are gone",
      description: "The handler of a timer that repeats captured weakly only objects that are deallocated.",
      help: "Cancel the timer in the `deinit` of its owner."),
    goesOn(
      .observerOfDeadOwner, 9, "the registration", title: "observer that is registered for an object that is gone",
      several: "observers that are registered for objects that are gone",
      description: "A block registered with NotificationCenter captured weakly only objects that are deallocated.",
      help: "Call `removeObserver(_:)` with the token in the `deinit` of its owner."),
    holds(
      .timer, 1, "a timer", alone: "this timer", mechanism: "the timer",
      help: "Invalidate the timer when the owner is done, and capture `self` weakly in its block."),
    holds(
      .dispatchSource, 2, "a dispatch source", alone: "this dispatch source or work item",
      mechanism: "the dispatch source", help: "Cancel the source when the owner is done."),
    holds(
      .observer, 3, "an observer registration", alone: "this registration with NotificationCenter",
      mechanism: "the registration", help: "Remove the observer when the owner is done."),
    holds(
      .task, 4, "a waiting task", alone: "this task", mechanism: "the task",
      help: "Cancel the task when the owner is done, or let it hold the owner weakly."),
    holds(.runLoop, nil, "something in a run loop", help: "Invalidate what the run loop holds when the owner is done."),
    holds(
      .thread, nil, "a word on a thread's stack",
      help: "If the word is out of use, these objects are a retain cycle."),
  ]

  /// Of objects that hold what holds them.
  private static func holds(
    _ kind: LeakReport.Suspect.Kind, _ number: UInt32?, _ holder: String, alone: String = "what fires or waits",
    mechanism: String = "what holds it", help: String
  ) -> Self {
    let both = kind == .thread ? "" : ", which it holds itself"
    return Self(
      kind: kind, number: number, holder: holder, alone: alone, mechanism: mechanism, several: nil,
      title: "object held only by \(holder)", description: "The object is reachable only through \(holder)\(both).",
      help: help)
  }

  /// Of what works on for an object that is gone.
  private static func goesOn(
    _ kind: LeakReport.Suspect.Kind, _ number: UInt32, _ mechanism: String, title: String, several: String,
    description: String, help: String
  ) -> Self {
    Self(
      kind: kind, number: number, holder: nil, alone: "what fires or waits", mechanism: mechanism, several: several,
      title: title, description: description, help: help)
  }
}
