/// What to do about an object that outlived its scope, by the path that holds it.
enum OutlivedAdvice {
  /// "timer "poll"": what a run loop has at the start of the path.
  private static func loopItem(_ facts: LeakFacts) -> String? {
    guard facts.root?.kind == "runLoop" else { return nil }
    let item = facts.path.first?.item ?? "timer"
    return facts.path.first?.name.map { "\(item) \"\($0)\"" } ?? item
  }

  static func behindLoop(_ facts: LeakFacts) -> String? {
    guard let what = loopItem(facts), facts.holders.count > 1 else { return nil }
    let other = facts.holder.flatMap { isForeign($0) ? nil : ", or " + remedy($0) } ?? ""
    return "the run loop holds the \(what) until it is invalidated, and with it everything on this path: call "
      + "invalidate() when the scope ends" + other
  }

  static func loopTimer(_ facts: LeakFacts) -> String? {
    guard let what = loopItem(facts), facts.holders.isEmpty else { return nil }
    return "the run loop holds the \(what) until it is invalidated: call invalidate() when the scope ends"
  }

  static func userInfo(_ facts: LeakFacts) -> String? {
    guard let what = loopItem(facts), facts.holder?.field == "userInfo" else { return nil }
    return "the \(what) keeps its userInfo until it is invalidated: call invalidate() when the scope ends"
  }

  static func loopBlock(_ facts: LeakFacts) -> String? {
    guard let what = loopItem(facts), let step = facts.holder, step.reference.holdsClosure else { return nil }
    return
      "the block of the \(what) \(captures(step)): \(Advice.remedy(step.reference, facts.type)), and call invalidate() "
      + "when the owner goes away"
  }

  static func loopTarget(_ facts: LeakFacts) -> String? {
    guard let what = loopItem(facts) else { return nil }
    let weakly =
      facts.path.first?.item == "display link" ? "give it a WeakProxy as its target" : "make it with `holding: .weak`"
    return "the \(what) holds its target strongly until it is invalidated: call invalidate() when the owner goes "
      + "away (its deinit cannot, it never runs), or \(weakly)"
  }

  static func heldByTimer(_ facts: LeakFacts) -> String? {
    guard facts.mentions(KnownTypes.isTimer) else { return nil }
    return "a timer holds it: capture `self` weakly in its block, and call invalidate() when the owner goes away"
  }

  static func observer(_ facts: LeakFacts) -> String? {
    guard facts.mentions(KnownTypes.isNotificationCenter) else { return nil }
    return "a block registered with NotificationCenter holds it: capture `self` weakly, and call removeObserver(_:) "
      + "when the owner goes away"
  }

  private static func isOfTask(_ facts: LeakFacts) -> Bool { facts.holders.contains { $0.type == "Task" } }

  static func continuation(_ facts: LeakFacts) -> String? {
    guard isOfTask(facts), facts.holders.contains(where: { KnownTypes.holdsContinuation($0) }) else { return nil }
    return
      "a task that waits for a continuation holds it: resume the continuation exactly once on every path, also when "
      + "the scope ends or the task is cancelled (withTaskCancellationHandler); a weak `self` would not wake the task"
  }

  static func task(_ facts: LeakFacts) -> String? {
    guard isOfTask(facts) else { return nil }
    return "a task that has not ended holds it: cancel the task when the scope ends, or capture `self` weakly in it"
  }

  static func closure(_ facts: LeakFacts) -> String? {
    guard let step = facts.holder, step.reference.holdsClosure, !isForeign(step) else { return nil }
    let removal =
      step.field.contains("[") ? "remove it from `\(place(step))`" : "set `\(place(step))` to nil"
    return "\(stored(step)): \(Advice.remedy(step.reference, facts.type)), or \(removal) when the scope ends"
  }

  /// A closure that the library itself made is nothing that the programmer can change.
  static func closureInLibrary(_ facts: LeakFacts) -> String? {
    guard let step = facts.holder, isForeign(step), step.reference.holdsOwnClosure else { return nil }
    return
      "\(stored(step)): \(Advice.remedy(step.reference, facts.type)), or end what it was given to when the scope ends "
      + "(\(LibraryAdvice.endings))"
  }

  private static func stored(_ step: PathStep) -> String {
    "the closure stored in `\(place(step))` of \(step.type) \(captures(step))"
  }

  /// An object that is not the user's: what put the watched one there has to take it out again. The outermost of them is what
  /// the user's code deals with.
  private static func foreign(_ facts: LeakFacts) -> (subject: String, package: String?)? {
    guard let last = facts.holder, isForeign(last), !last.reference.holdsOwnClosure, !isLocalCollection(facts) else {
      return nil
    }
    let own = facts.holders.lastIndex { !isForeign($0) }
    let outer = own.map { facts.holders[$0 + 1] } ?? facts.path[0]
    let holder = own.map { facts.holders[$0] }.map { ", which `\(place($0))` of \($0.type) refers to," } ?? ""
    return (
      TypeName.unspecialized(outer.type) + (holder.isEmpty ? reached(facts) : holder), outer.package ?? last.package
    )
  }

  static func inLibrary(_ facts: LeakFacts) -> String? {
    guard let (subject, package) = foreign(facts), let package else { return nil }
    return
      "\(subject) is \(package)'s and holds it: most likely the call that ends it is missing (\(LibraryAdvice.endings))"
  }

  static func inToolchain(_ facts: LeakFacts) -> String? {
    foreign(facts).map {
      "\($0.subject) holds it: undo what gave it the object when the scope ends (remove, cancel, invalidate or close)"
    }
  }

  private static func isForeign(_ step: PathStep) -> Bool {
    (step.package != nil || ToolchainModules.declare(step.type)) && !LibraryAdvice.isBox(step.type)
  }

  static func delegate(_ facts: LeakFacts) -> String? {
    guard let step = facts.holder, FieldName.isDelegate(step.field) else { return nil }
    return "`\(step.field)` of \(step.type) still refers to it: declare it `weak`, or set it to nil when the scope "
      + "ends"
  }

  static func collection(_ facts: LeakFacts) -> String? {
    guard let step = facts.holder, step.field.contains("["), !isLocalCollection(facts) else { return nil }
    return "`\(place(step))` of \(step.type)\(reached(facts)) still holds it: remove it from there when the scope "
      + "ends, or keep it weakly"
  }

  static func global(_ facts: LeakFacts) -> String? {
    guard let root = facts.root, root.kind == "global", !root.name.isEmpty, facts.holders.isEmpty else { return nil }
    return "the global or static variable `\(variable(root))` still refers to it: set it to nil when the scope ends, "
      + "or declare it `weak`"
  }

  /// The call may end; then the cycle is what keeps the object.
  static func localAndCycle(_ facts: LeakFacts) -> String? {
    guard let cycle = facts.cycleAdvice, let root = facts.root, isOfThread(root) else { return nil }
    return "a retain cycle keeps it: \(cycle)"
      + (local(facts).map { "; besides, \($0)" } ?? "")
  }

  static func local(_ facts: LeakFacts) -> String? {
    guard let root = facts.root, isOfThread(root), root.owned != 0 else { return nil }
    let end: String
    if facts.holders.isEmpty {
      end = "set the variable to nil"
    } else if isLocalCollection(facts) {
      end = "remove the object from that collection"
    } else {
      return nil
    }
    return "a local variable or argument of a call that has not returned (\(root.name)) still refers to it: let the "
      + "call end, or \(end)"
  }

  private static func isOfThread(_ root: PathStep.Root) -> Bool { root.kind == "stack" || root.kind == "register" }

  /// The object is in an array, set or dictionary that only a thread's variable leads to.
  private static func isLocalCollection(_ facts: LeakFacts) -> Bool {
    facts.root.map(isOfThread) == true && facts.holders.count == 1
      && NodeNames.isStorage(facts.holders.first?.type ?? "")
  }

  static func threadValue(_ facts: LeakFacts) -> String? {
    guard facts.holders.isEmpty, let root = facts.root, root.kind == "threadLocal" else { return nil }
    return "a thread-local value (\(root.name)) still refers to it: remove it when the scope ends"
  }

  static func field(_ facts: LeakFacts) -> String? {
    guard let step = facts.holder else { return nil }
    return remedy(step) + reached(facts)
  }

  private static func remedy(_ step: PathStep) -> String {
    if step.reference.holdsClosure { return "capture it weakly in the closure stored in `\(place(step))`" }
    guard let end = FieldRemedy.ending(step.reference) else {
      return "\(step.type) holds it: end what gave it the object when the scope ends"
    }
    return FieldRemedy.canBeWeak(step.reference)
      ? "\(end) when the scope ends, or declare it `weak` if it does not own the object" : "\(end) when the scope ends"
  }

  private static func captures(_ step: PathStep) -> String {
    step.captures == nil || step.captures == "variable"
      ? "captures it strongly" : Advice.captures(step.reference, step.type)
  }

  /// From where the holder is reached, if it has a name that the programmer knows.
  private static func reached(_ facts: LeakFacts) -> String {
    guard let root = facts.root, root.kind == "global", !root.name.isEmpty else { return "" }
    return " (reached from `\(variable(root))`)"
  }

  private static func variable(_ root: PathStep.Root) -> String {
    root.name.hasPrefix("static ") ? String(root.name.dropFirst("static ".count)) : root.name
  }

  private static func place(_ step: PathStep) -> String {
    step.field.hasPrefix("[") ? step.field : String(step.field.prefix { $0 != "[" })
  }
}
