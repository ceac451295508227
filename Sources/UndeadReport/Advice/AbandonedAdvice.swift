/// What to do about an object that outlived its scope, by what holds it. The first rule that has something to say is taken.
enum AbandonedAdvice {
  private typealias Rule = @Sendable (Facts) -> String?

  /// What the rules judge a retain path by.
  private struct Facts {
    var first: PathStep
    /// The step whose field holds the object.
    var last: PathStep?
    var steps: ArraySlice<PathStep>
    var type: String
    var root: PathStep.Root? { first.root }

    func mentions(_ isKnown: (String) -> Bool) -> Bool { steps.contains { isKnown($0.type) } }
  }

  /// What to do; nil if the path tells nothing.
  static func text(for path: [PathStep]) -> String? {
    guard let first = path.first, let end = path.last else { return nil }
    let steps = path.dropLast()
    let facts = Facts(first: first, last: steps.last, steps: steps, type: end.type)
    for rule in rules {
      if let text = rule(facts) { return text }
    }
    return nil
  }

  private static let rules: [Rule] = [
    heldByLoop, heldByTimer, observer, task, closure, ofLibrary, delegate, collection, global, thread, field,
  ]

  private static func heldByLoop(_ facts: Facts) -> String? {
    guard facts.root?.kind == "runLoop" else { return nil }
    let item = facts.first.item ?? "timer"
    let what = facts.first.name.map { "\(item) \"\($0)\"" } ?? item
    guard facts.steps.count <= 1 else {
      let other = facts.last.flatMap { isForeign($0) ? nil : ", or " + remedy($0) } ?? ""
      return "the run loop holds the \(what) until it is invalidated, and with it everything on this path: call "
        + "invalidate() when the scope ends" + other
    }
    switch facts.last {
    case nil:
      return "the run loop holds the \(what) until it is invalidated: call invalidate() when the scope ends"
    case let step? where step.field == "userInfo":
      return "the \(what) keeps its userInfo until it is invalidated: call invalidate() when the scope ends"
    case let step? where step.reference.holdsClosure:
      return
        "the block of the \(what) \(captures(step)): \(Advice.remedy(step.reference, facts.type)), and call invalidate() when "
        + "the owner goes away"
    default:
      let weakly = item == "display link" ? "give it a WeakProxy as its target" : "make it with `holding: .weak`"
      return "the \(what) holds its target strongly until it is invalidated: call invalidate() when the owner goes "
        + "away (its deinit cannot, it never runs), or \(weakly)"
    }
  }

  private static func heldByTimer(_ facts: Facts) -> String? {
    guard facts.mentions(KnownTypes.isTimer) else { return nil }
    return "a timer holds it: capture `self` weakly in its block, and call invalidate() when the owner goes away"
  }

  private static func observer(_ facts: Facts) -> String? {
    guard facts.mentions(KnownTypes.isNotificationCenter) else { return nil }
    return "a block registered with NotificationCenter holds it: capture `self` weakly, and call removeObserver(_:) "
      + "when the owner goes away"
  }

  private static func task(_ facts: Facts) -> String? {
    guard facts.steps.contains(where: { $0.type == "Task" }) else { return nil }
    if facts.steps.contains(where: { KnownTypes.holdsContinuation($0) }) {
      return
        "a task that waits for a continuation holds it: resume the continuation exactly once on every path, also when "
        + "the scope ends or the task is cancelled (withTaskCancellationHandler); a weak `self` would not wake the task"
    }
    return "a task that has not ended holds it: cancel the task when the scope ends, or capture `self` weakly in it"
  }

  private static func closure(_ facts: Facts) -> String? {
    guard let step = facts.last, step.reference.holdsClosure else { return nil }
    let stored = "the closure stored in `\(place(step))` of \(step.type) \(captures(step))"
    let remedy = Advice.remedy(step.reference, facts.type)
    if isForeign(step) {
      // A closure that the library itself made is nothing that the programmer can change.
      guard step.reference.holdsOwnClosure else { return nil }
      return "\(stored): \(remedy), or end what it was given to when the scope ends (\(LibraryAdvice.endings))"
    }
    let removal = step.field.contains("[") ? "remove it from `\(place(step))`" : "set `\(place(step))` to nil"
    return "\(stored): \(remedy), or \(removal) when the scope ends"
  }

  /// An object that is not the user's: what put the watched one there has to take it out again.
  private static func ofLibrary(_ facts: Facts) -> String? {
    guard let last = facts.last, isForeign(last) else { return nil }
    // The outermost of them is what the user's code deals with.
    let own = facts.steps.lastIndex { !isForeign($0) }
    let outer = own.map { facts.steps[$0 + 1] } ?? facts.first
    let holder = own.map { facts.steps[$0] }.map { ", which `\(place($0))` of \($0.type) refers to," } ?? ""
    let subject = TypeName.unspecialized(outer.type) + (holder.isEmpty ? reached(facts) : holder)
    guard let package = outer.package ?? last.package else {
      return
        "\(subject) holds it: undo what gave it the object when the scope ends (remove, cancel, invalidate or close)"
    }
    return
      "\(subject) is \(package)'s and holds it: most likely the call that ends it is missing (\(LibraryAdvice.endings))"
  }

  private static func isForeign(_ step: PathStep) -> Bool {
    (step.package != nil || ToolchainModules.declare(step.type)) && !LibraryAdvice.isBox(step.type)
  }

  private static func delegate(_ facts: Facts) -> String? {
    guard let step = facts.last, FieldName.isDelegate(step.field) else { return nil }
    return "`\(step.field)` of \(step.type) still refers to it: declare it `weak`, or set it to nil when the scope "
      + "ends"
  }

  private static func collection(_ facts: Facts) -> String? {
    guard let step = facts.last, step.field.contains("[") else { return nil }
    return "`\(place(step))` of \(step.type)\(reached(facts)) still holds it: remove it from there when the scope "
      + "ends, or keep it weakly"
  }

  private static func global(_ facts: Facts) -> String? {
    guard let root = facts.root, root.kind == "global", !root.name.isEmpty, facts.steps.isEmpty else { return nil }
    return "the global or static variable `\(variable(root))` still refers to it: set it to nil when the scope ends, "
      + "or declare it `weak`"
  }

  private static func thread(_ facts: Facts) -> String? {
    guard facts.steps.isEmpty, let root = facts.root else { return nil }
    switch root.kind {
    case "stack" where root.owned == 0, "register" where root.owned == 0:
      return
        "a call that has not returned (\(root.name)) names it but owns none of its references, which all come from "
        + "objects that it leads to itself: look for a cycle among them"
    case "stack", "register":
      return "a local variable or argument of a call that has not returned (\(root.name)) still refers to it: let the "
        + "call end, or set the variable to nil"
    case "threadLocal":
      return "a thread-local value (\(root.name)) still refers to it: remove it when the scope ends"
    default:
      return nil
    }
  }

  private static func field(_ facts: Facts) -> String? {
    guard let step = facts.last else { return nil }
    return remedy(step) + reached(facts)
  }

  private static func remedy(_ step: PathStep) -> String {
    if step.reference.holdsClosure { return "capture it weakly in the closure stored in `\(place(step))`" }
    return
      "set `\(place(step))` of \(step.type) to nil when the scope ends, or declare it `weak` if it does not own the object"
  }

  private static func captures(_ step: PathStep) -> String {
    switch step.captures {
    case "self": "captures `self` strongly"
    case let captures? where captures != "variable": "captures `\(captures)` strongly"
    default: "captures it strongly"
    }
  }

  /// From where the holder is reached, if it has a name that the programmer knows.
  private static func reached(_ facts: Facts) -> String {
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
