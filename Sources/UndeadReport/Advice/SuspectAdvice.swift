// What helps against suspects: what will run later holds the object that holds it.

extension Advice {
  /// " in `timer`": where the object has what holds it.
  private static func field(_ facts: LeakFacts) -> String {
    facts.references.first.map { " in `\($0.fieldName)`" } ?? ""
  }

  static func heldByTimer(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .timer else { return nil }
    return
      "the run loop keeps the timer, and the timer the object that has it\(field(facts)), so deinit never runs and "
      + "cannot stop it: capture `self` weakly in its block, and call invalidate() when the owner goes away"
  }

  static func heldByWorkItem(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .dispatchSource, let item = facts.references.first,
      facts.references.contains(where: { $0.type == "Dispatch.DispatchWorkItem" })
    else { return nil }
    return
      "the work item in `\(item.field)` is to run later, and captures the object that has it: capture `self` weakly "
      + "in it, and call cancel() on it when the owner goes away"
  }

  private static func isHeldByChannel(_ facts: LeakFacts) -> Bool {
    facts.heldBy == .dispatchSource && facts.references.contains { $0.type == "Dispatch.DispatchIO" }
  }

  /// The channel itself leads to its cleanup handler, not what it reads or writes.
  static func heldByCleanup(_ facts: LeakFacts) -> String? {
    guard isHeldByChannel(facts), let last = facts.references.last, last.type == "dispatch io",
      last.field.hasPrefix("+")
    else { return nil }
    return
      "the cleanup handler of the channel captures the object which has the channel\(field(facts)), and runs when the channel "
      + "is closed: capture `self` weakly in it, or call close() when the owner is done"
  }

  static func heldByChannelTwice(_ facts: LeakFacts) -> String? {
    facts.handlers.contains("cleanup handler") ? heldByChannel(facts) : nil
  }

  static func heldByChannel(_ facts: LeakFacts) -> String? {
    guard isHeldByChannel(facts) else { return nil }
    return
      "what the channel reads or writes has a handler that captures the object which has the channel\(field(facts)): capture "
      + "`self` weakly in it\(facts.handlers.contains("cleanup handler") ? " and in the cleanup handler" : ""), and call "
      + "close(flags: .stop) when the owner goes away"
  }

  static func heldBySource(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .dispatchSource else { return nil }
    let handlers =
      facts.handlers.count > 1
      ? "the \(facts.handlers.joined(separator: " and the ")) of the dispatch source capture"
      : "the handler of the dispatch source captures"
    return
      "\(handlers) the object that holds the source\(field(facts)): capture `self` "
      + "weakly\(facts.handlers.count > 1 ? " in each" : ""), and call cancel() when the owner goes away"
  }

  static func heldByObserver(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .observer else { return nil }
    return
      "the block registered with NotificationCenter captures the object that keeps its token\(field(facts)): capture "
      + "`self` weakly, and call removeObserver(_:) when the owner goes away"
  }

  /// Optimised code does not say what it waits for: then what leads to the task does.
  private static func isForContinuation(_ facts: LeakFacts) -> Bool {
    let awaited = Awaited(facts.suspended)
    return awaited == .continuation || (awaited == .unknown && facts.isOfContinuation)
  }

  static func heldByContinuation(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .task, isForContinuation(facts) else { return nil }
    return
      "the task waits\(place(facts.suspended)) for a continuation, and holds the object that holds it\(field(facts)): "
      + "resume it exactly once on every path, also when the owner is done or the task is cancelled "
      + "(withTaskCancellationHandler); a weak `self` would not wake the task"
  }

  /// A weak capture that a local variable made strong: `guard let self` before a loop, `await self?.run()`.
  static func heldByFrame(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .task, facts.isOfFrame else { return nil }
    return
      "the task waits\(place(facts.suspended)), and this call keeps the object that holds the task\(field(facts)), "
      + "as after `guard let self` or in a method of it: use `self?` for one step at a time inside the loop, or cancel the "
      + "task when the owner is done (not in its deinit, which the task prevents)"
  }

  static func heldByTask(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .task else { return nil }
    return
      "the task waits and holds the object that holds it\(field(facts)): cancel it when the owner is done (not in its "
      + "deinit, which the task prevents), or capture `self` weakly in the task"
  }

  static func taskWithoutField(_ facts: LeakFacts) -> String? {
    facts.handles?.owner != nil && facts.handles?.fields.isEmpty ?? false ? taskOfDeadOwner(facts) : nil
  }

  static func taskOfDeadOwner(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .taskOfDeadOwner else { return nil }
    return
      "the object that the task works for is gone, and did not cancel it: "
      + (facts.handles ?? DeadOwnerHandles()).remedy("task")
      + "; or leave the loop when `self` is nil, as by `guard let self else { return }` in each step"
  }

  static func foundationTimerOfDeadOwner(_ facts: LeakFacts) -> String? {
    facts.mentions(KnownTypes.isTimer) ? timerOfDeadOwner(facts) : nil
  }

  static func timerOfDeadOwner(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .timerOfDeadOwner else { return nil }
    return "the object that the timer fires for is gone, and did not stop it: "
      + (facts.handles ?? DeadOwnerHandles()).remedy(
        "timer", by: facts.mentions(KnownTypes.isTimer) ? "invalidate" : "cancel")
  }

  static func observerOfDeadOwner(_ facts: LeakFacts) -> String? {
    guard facts.heldBy == .observerOfDeadOwner else { return nil }
    return "the object that the observer's block works for is gone, and did not remove it: "
      + (facts.handles ?? DeadOwnerHandles()).remedy("token", by: "call removeObserver(_:) with")
  }
}
