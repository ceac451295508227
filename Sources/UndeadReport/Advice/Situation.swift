/// One pattern of what keeps objects that should be gone: when it is there, and what to do about it.
///
/// The tables below are all advice that there is. The first situation of a table that has words is taken, so
/// the narrow ones come first. `Checks/Advice` has the smallest program of each by its name, with the fix;
/// `scripts/check/advice` runs both, and makes `Documentation/advice.md` of them. A situation without a program is not given.
struct Situation: Sendable {
  /// Name of its program.
  let name: String
  /// What to do; nil if the leak is something else.
  let words: @Sendable (LeakFacts) -> String?

  init(_ name: String, _ words: @escaping @Sendable (LeakFacts) -> String?) {
    self.name = name
    self.words = words
  }

  /// What the first situation says that a leak is in.
  static func text(_ situations: [Situation], _ facts: LeakFacts) -> String? {
    situations.lazy.compactMap { $0.words(facts) }.first
  }
}

extension Situation {
  /// Objects that nothing refers to.
  static let unreferenced = [
    Situation("foundation-timer", Advice.timer),
    Situation("attributed-string", ToolchainAdvice.attributes),
    Situation("lost-continuation", Advice.waitingTask),
    Situation("raw-memory", Advice.rawMemory),
    Situation("foreign-block", Advice.heldByForeignBlock),
    Situation("library-object", LibraryAdvice.object),
    Situation("toolchain-object", ToolchainAdvice.object),
    Situation("lost-reference", Advice.lostReference),
    Situation("lone-closure", Advice.loneClosure),
  ]

  /// Retain cycles.
  static let cycles = [
    Situation("foundation-timer", Advice.timer),
    Situation("library-cycle", LibraryAdvice.cycle),
    Situation("task-in-field", Advice.taskCycle),
    Situation("dispatch-group", Advice.dispatchGroup),
    Situation("suspended-queue", Advice.suspendedQueue),
    Situation("suspended-operation-queue", Advice.operationQueue),
    Situation("inactive-source", Advice.dispatchSource),
    Situation("notification-observer", Advice.observer),
    Situation("observation", Advice.observation),
    Situation("assignment", LibraryAdvice.assignment),
    Situation("subscription", LibraryAdvice.subscription),
    Situation("subscriber", LibraryAdvice.subscriber),
    Situation("publishers", LibraryAdvice.publishers),
    Situation("future", LibraryAdvice.future),
    Situation("pending-call", LibraryAdvice.pendingCall),
    Situation("scheduled-task", LibraryAdvice.scheduledTask),
    Situation("method-reference", Advice.methodReference),
    Situation("autoclosure", Advice.autoclosure),
    Situation("two-captures", Advice.twoCaptures),
    Situation("lazy-closure", Advice.lazyClosure),
    Situation("own-variable", Advice.ownVariable),
    Situation("closure-in-own-field", Advice.ownClosure),
    Situation("closure-in-field", Advice.closureInCycle),
    Situation("handler-context", LibraryAdvice.handlerContext),
    Situation("channel", LibraryAdvice.channel),
    Situation("library-and-program", LibraryAdvice.mixed),
    Situation("toolchain-cycle", ToolchainAdvice.cycle),
    Situation("session-delegate", ToolchainAdvice.sessionDelegate),
    Situation("key-path-argument", Advice.keyPath),
    Situation("unmanaged-field", Advice.unmanaged),
    Situation("memory-in-field", Advice.memory),
    Situation("collection-of-self", Advice.collectionOfSelf),
    Situation("field-of-self", Advice.selfReference),
    Situation("back-reference", Advice.backReference),
    Situation("member-of-collection", Advice.memberOfCollection),
    Situation("member-of-foundation", Advice.memberOfFoundation),
    Situation("payload", Advice.payload),
    Situation("two-strong-fields", Advice.anyCycle),
  ]

  /// What only something that fires or waits holds.
  static let suspects = [
    Situation("task-without-field", Advice.taskWithoutField),
    Situation("task-of-dead-owner", Advice.taskOfDeadOwner),
    Situation("foundation-timer-of-dead-owner", Advice.foundationTimerOfDeadOwner),
    Situation("timer-of-dead-owner", Advice.timerOfDeadOwner),
    Situation("observer-of-dead-owner", Advice.observerOfDeadOwner),
    Situation("running-timer", Advice.heldByTimer),
    Situation("work-item", Advice.heldByWorkItem),
    Situation("dispatch-cleanup", Advice.heldByCleanup),
    Situation("dispatch-channel-and-cleanup", Advice.heldByChannelTwice),
    Situation("dispatch-channel", Advice.heldByChannel),
    Situation("running-source", Advice.heldBySource),
    Situation("registered-observer", Advice.heldByObserver),
    Situation("waiting-for-continuation", Advice.heldByContinuation),
    Situation("task-of-weak-self", Advice.heldByFrame),
    Situation("waiting-task", Advice.heldByTask),
  ]

  /// What outlived its scope, by the path that holds it.
  static let outlived = [
    Situation("outlived-behind-loop", OutlivedAdvice.behindLoop),
    Situation("outlived-timer", OutlivedAdvice.loopTimer),
    Situation("outlived-user-info", OutlivedAdvice.userInfo),
    Situation("outlived-timer-block", OutlivedAdvice.loopBlock),
    Situation("outlived-timer-target", OutlivedAdvice.loopTarget),
    Situation("outlived-foundation-timer", OutlivedAdvice.heldByTimer),
    Situation("outlived-observer", OutlivedAdvice.observer),
    Situation("outlived-continuation", OutlivedAdvice.continuation),
    Situation("outlived-task", OutlivedAdvice.task),
    Situation("outlived-closure", OutlivedAdvice.closure),
    Situation("outlived-closure-in-library", OutlivedAdvice.closureInLibrary),
    Situation("outlived-in-library", OutlivedAdvice.inLibrary),
    Situation("outlived-in-toolchain", OutlivedAdvice.inToolchain),
    Situation("outlived-delegate", OutlivedAdvice.delegate),
    Situation("outlived-collection", OutlivedAdvice.collection),
    Situation("outlived-global", OutlivedAdvice.global),
    Situation("outlived-local-and-cycle", OutlivedAdvice.localAndCycle),
    Situation("outlived-local", OutlivedAdvice.local),
    Situation("outlived-thread-value", OutlivedAdvice.threadValue),
    Situation("outlived-field", OutlivedAdvice.field),
  ]

  /// Uses of deallocated objects.
  static let zombies = [
    Situation("zombie-release", ZombieAdvice.release),
    Situation("zombie-unowned", ZombieAdvice.unowned),
    Situation("zombie-overflow", ZombieAdvice.overflow),
    Situation("zombie-escape", ZombieAdvice.escape),
    Situation("zombie-memory", ZombieAdvice.memory),
    Situation("zombie-closure", ZombieAdvice.closure),
    Situation("zombie-timer-target", ZombieAdvice.timerTarget),
    Situation("zombie-reference", ZombieAdvice.reference),
  ]
}
