/// What a suspended task waits for, as far as its stack tells.
enum Awaited {
  case stream, continuation, unknown

  init(_ suspended: Backtrace?) {
    let symbols = suspended?.frames.map(\.symbol) ?? []
    self =
      symbols.contains(where: KnownTypes.isStream)
      ? .stream : symbols.contains(where: KnownTypes.isContinuation) ? .continuation : .unknown
  }
}

/// What to do about the patterns of leaks that are known. The first entry that has something to say is taken.
enum Advice {
  private typealias Rule = @Sendable (LeakFacts) -> String?

  /// What to do about a leak; nil if its pattern is not known.
  static func text(for facts: LeakFacts) -> String? {
    for rule in facts.isCycle ? cycleRules : unreferencedRules {
      if let text = rule(facts) { return text }
    }
    return nil
  }

  /// What to do about an object that something that fires or waits holds.
  ///
  /// - Parameter suspended: where it waits, if it is a task.
  static func text(for kind: Suspect.Kind, holdsBack: [Reference], suspended: Backtrace?) -> String? {
    let field = holdsBack.first.map { " in `\($0.field)`" } ?? ""
    switch kind {
    case .timer:
      return "the timer holds the object that holds it\(field), so deinit never runs and cannot stop it: capture "
        + "`self` weakly in its block, and call invalidate() when the owner goes away"
    case .dispatchSource:
      return "the handler of the dispatch source captures the object that holds the source\(field): capture `self` "
        + "weakly, and call cancel() when the owner goes away"
    case .observer:
      return "the block registered with NotificationCenter captures the object that keeps its token\(field): capture "
        + "`self` weakly, and call removeObserver(_:) when the owner goes away"
    case .task where Awaited(suspended) == .continuation:
      return
        "the task waits\(place(suspended)) for a continuation, and holds the object that holds it\(field): resume it "
        + "exactly once on every path, also when the owner is done or the task is cancelled "
        + "(withTaskCancellationHandler); a weak `self` would not wake the task"
    case .task:
      return "the task waits and holds the object that holds it\(field): cancel it when the owner is done (not in its "
        + "deinit, which the task prevents), or capture `self` weakly in the task"
    default:
      return nil
    }
  }

  /// What to do about a cycle that a frame of a thread names, by what would be said of a leak.
  static func text(forHeldByThread advice: String?) -> String {
    "nobody else owns these objects, they only hold each other: unless that function of the thread still uses them, they "
      + "have leaked" + (advice.map { "; \($0)" } ?? "")
  }

  private static let unreferencedRules: [Rule] = [
    timer, ToolchainAdvice.attributes, waitingTask, rawMemory, heldByForeignBlock, LibraryAdvice.object,
    ToolchainAdvice.object, passRetained, loneClosure,
  ]

  private static let cycleRules: [Rule] = [
    timer, LibraryAdvice.cycle, taskCycle, dispatchSource, observer, LibraryAdvice.subscription,
    LibraryAdvice.publishers, LibraryAdvice.future, LibraryAdvice.pendingCall, lazyClosure,
    ownVariable, ownClosure, closureInCycle, LibraryAdvice.channel, LibraryAdvice.mixed, ToolchainAdvice.cycle,
    unmanaged, memory, collectionOfSelf, selfReference, backReference, memberOfCollection, boxedPayload, anyCycle,
  ]

  private static func timer(_ facts: LeakFacts) -> String? {
    guard facts.holdsTimer else { return nil }
    return "Foundation's Timer on Linux never releases its block, not even after invalidate(): capture `self` weakly "
      + "in the block, so that only the timer is lost"
  }

  private static func waitingTask(_ facts: LeakFacts) -> String? {
    guard facts.rootRole == .task else { return nil }
    let place = place(facts.suspended)
    switch Awaited(facts.suspended) {
    case .stream:
      return "the task waits\(place) for a stream that nobody can feed any more: call finish() on its continuation"
    case .continuation:
      return "the task waits\(place) for a continuation that nobody can resume any more: resume it exactly once on "
        + "every path, also when its owner goes away"
    case .unknown:
      return "the task is suspended\(place) and nobody can resume it any more: resume its continuation, or finish the "
        + "stream that it waits for"
    }
  }

  /// The function in which a task waits: " in Loader.load()".
  private static func place(_ suspended: Backtrace?) -> String {
    suspended?.firstOwnFrame.map { " in \(SymbolText.short($0.symbol))" } ?? ""
  }

  private static func rawMemory(_ facts: LeakFacts) -> String? {
    guard facts.rootType == NodeNames.rawMemory else { return nil }
    return "memory taken by hand (UnsafeMutablePointer.allocate or the like) is never given back: call deallocate() "
      + "on every path, deinitialize(count:) before it if it holds objects"
  }

  private static func heldByForeignBlock(_ facts: LeakFacts) -> String? {
    guard let holder = facts.foreignHolder else { return nil }
    return "only an unreachable block of C code (\(holder)) refers to it: whoever lost that block, for example a "
      + "dispatch block that never ran, did not release the object"
  }

  private static func passRetained(_ facts: LeakFacts) -> String? {
    guard facts.rootRole == .program || facts.rootRole == .toolchain else { return nil }
    return "nothing refers to it, yet it was retained: most likely Unmanaged.passRetained without a release(), "
      + "or a context handed to C code that never gave it back (takeRetainedValue); if its address is in a pipe, "
      + "or stored in other bits, LeakDetector.markHeldOutside(_:) says so"
  }

  private static func loneClosure(_ facts: LeakFacts) -> String? {
    guard facts.rootRole == .context else { return nil }
    return "a closure that nothing refers to was never released: look for one handed to C code, to a queue that never "
      + "runs, or retained by hand"
  }

  private static func taskCycle(_ facts: LeakFacts) -> String? {
    guard facts.roles.contains(.task), let reference = facts.references.first else { return nil }
    let awaited = Awaited(facts.suspended)
    if awaited == .stream {
      return "the task waits for a stream that never ends, and holds its owner meanwhile: call finish() on the "
        + "stream's continuation when the owner is done, or cancel the task then (not in a deinit, which the task prevents)"
    }
    if awaited == .continuation || facts.types.contains(where: KnownTypes.isContinuationCanary) {
      return
        "the task waits\(place(facts.suspended)) for a continuation that only the cycle itself holds: resume it exactly once on "
        + "every path, also when its owner is done or the task is cancelled (withTaskCancellationHandler); a weak "
        + "`self` would not wake the task"
    }
    return "the task that `\(reference.field)` leads to holds its owner and has not ended: cancel it when the owner is "
      + "done (not in a deinit, which the task prevents), or capture `self` weakly in the task and let its loop end"
  }

  private static func dispatchSource(_ facts: LeakFacts) -> String? {
    guard facts.references.contains(where: { $0.type.hasPrefix("Dispatch.DispatchSource") }) else { return nil }
    return "the handler of the dispatch source captures its owner: capture `self` weakly, and call cancel() when the "
      + "owner goes away"
  }

  private static func observer(_ facts: LeakFacts) -> String? {
    guard facts.references.contains(where: { KnownTypes.isNotificationCenter($0.type) }) else { return nil }
    return "the observer's block captures the object that keeps its token: capture `self` weakly, and call "
      + "removeObserver(_:) when the owner goes away"
  }

  private static func lazyClosure(_ facts: LeakFacts) -> String? {
    guard let reference = facts.references.first(where: { $0.closure != nil && facts.lazyFields.contains($0.field) })
    else { return nil }
    return
      "the closure in the lazy property `\(reference.field)` \(captures(reference)) and is kept: "
      + remedy(reference)
  }

  private static func ownVariable(_ facts: LeakFacts) -> String? {
    guard facts.roles.isSubset(of: [.context, .box]), facts.roles.contains(.context) else { return nil }
    return "a closure captures the very variable that it is stored in: set the variable to nil after the last call, or "
      + "make it a local function"
  }

  private static func ownClosure(_ facts: LeakFacts) -> String? {
    guard facts.references.count == 1, let reference = facts.references.first, reference.holdsClosure else {
      return nil
    }
    return "closure stored in `\(reference.field)` \(captures(reference)): \(remedy(reference))"
  }

  private static func closureInCycle(_ facts: LeakFacts) -> String? {
    let own = facts.references.indices.filter {
      facts.references[$0].holdsOwnClosure || facts.references[$0].package == nil
    }
    guard let reference = facts.references.culpritClosure(among: own).map({ facts.references[$0] }) else { return nil }
    let type = reference.package == nil ? reference.type : TypeName.unspecialized(reference.type)
    return "the closure stored in `\(reference.field)` of \(type) \(captures(reference)): "
      + remedy(reference)
  }

  static func captures(_ reference: Reference) -> String {
    switch reference.captures {
    case "self": "captures `self` strongly"
    case "variable": "strongly captures the variable that refers to its owner"
    case let captures?: "captures `\(captures)` strongly"
    case nil: "strongly captures the object that holds it"
    }
  }

  static func remedy(_ reference: Reference) -> String {
    reference.captures == "self" ? "capture it weakly (`[weak self]`)" : "capture it weakly (`[weak object]`)"
  }

  private static func unmanaged(_ facts: LeakFacts) -> String? {
    guard
      let reference = facts.references.first(where: { TypeName.mentions("Swift.Unmanaged", in: $0.fieldType ?? "") })
    else {
      return nil
    }
    return
      "`\(reference.field)` of \(reference.type) is an Unmanaged reference that was retained: call release() on it "
      + "when the object is done, or make it with passUnretained"
  }

  private static func memory(_ facts: LeakFacts) -> String? {
    guard facts.roles.contains(.memory), let reference = facts.references.first(where: { isPointer($0.fieldType) })
    else { return nil }
    return "`\(reference.field)` of \(reference.type) points to memory that holds the way back: deinitialize and "
      + "deallocate it when the object is done, not only in its deinit, which never runs"
  }

  private static func isPointer(_ type: String?) -> Bool {
    type?.hasPrefix("Swift.Unsafe") ?? false
  }

  private static func collectionOfSelf(_ facts: LeakFacts) -> String? {
    guard facts.references.count == 1, let reference = facts.references.first, reference.field.contains("[") else {
      return nil
    }
    return "`\(collection(reference.field))` holds the very object that it belongs to: remove it from there before the "
      + "last use, or keep it weakly"
  }

  private static func selfReference(_ facts: LeakFacts) -> String? {
    guard facts.references.count == 1, let reference = facts.references.first else { return nil }
    let start = "`\(reference.field)` refers to the object itself: "
    // What a case of an enum or a tuple holds cannot be declared weak, nor be nil.
    let parts = reference.field.split(separator: ".")
    if parts.count > 1, facts.roles.contains(.box) || parts.last?.allSatisfy(\.isNumber) ?? false {
      return start + "give `\(parts[0])` another value when the object is done"
    }
    return start + "set it to nil when the object is done, or make it `weak`"
  }

  private static func backReference(_ facts: LeakFacts) -> String? {
    guard
      let reference = facts.references.last(where: { $0.package == nil && FieldName.isBackReference($0.field) })
    else { return nil }
    let name = "`\(reference.field)` of \(reference.type)"
    // The name of a delegate says that it does not own; other names only suggest it.
    return FieldName.isDelegate(reference.field)
      ? "\(name) refers back to what holds it: declare it `weak`"
      : "\(name) seems to refer back to what holds it: declare it `weak` (`unowned` if it never outlives that object)"
  }

  /// The member of a collection that refers to the object that has the collection.
  private static func memberOfCollection(_ facts: LeakFacts) -> String? {
    guard facts.references.count == 2, let owner = facts.references.first, owner.field.contains("["),
      let back = facts.references.last, !back.field.contains("["), back.package == nil
    else { return nil }
    return "`\(back.field)` of \(back.type) refers back to what holds it in `\(collection(owner.field))`: declare it "
      + "`weak` (`unowned` if it never outlives that object)"
  }

  private static func boxedPayload(_ facts: LeakFacts) -> String? {
    guard facts.roles.contains(.box), let reference = facts.references.first else { return nil }
    return "`\(reference.field)` of \(reference.type) holds the way back in a boxed value (an indirect enum case or an "
      + "existential): \(choose(facts))"
  }

  private static func anyCycle(_ facts: LeakFacts) -> String? {
    guard !facts.references.isEmpty else { return nil }
    return choose(facts)
  }

  /// What to do where nothing tells which of several references is not meant to own.
  static func choose(_ facts: LeakFacts) -> String {
    let (names, areOwning) = choices(facts)
    let list = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", ..." : "")
    return switch (names.count, areOwning) {
    case (1, false):
      "\(list) is most likely the reference that does not own its object: make it `weak` or `unowned`, or set it to nil "
        + "when the objects are done"
    case (_, false):
      "make the one of these references that does not own its object `weak` or `unowned`, or set one to nil when the "
        + "objects are done: \(list)"
    case (1, true):
      "\(list) seems to own its object: when the objects are done set it to nil, or call what ends it (cancel, finish); "
        + "make it `weak` only if it is not meant to own"
    case (_, true):
      "these references all seem to own their objects: when the objects are done set one to nil, or call what ends it "
        + "(cancel, finish); make one `weak` only if it is not meant to own: \(list)"
    }
  }

  /// The references that could be changed, and whether all of them are called like those that own.
  private static func choices(_ facts: LeakFacts) -> (names: [String], areOwning: Bool) {
    let named = facts.references.filter { !$0.isNameless && !ToolchainModules.declare($0.type) }
    let ofUser = named.filter { $0.package == nil }
    let own = ofUser.isEmpty ? named : ofUser
    // Whoever has children, or the next of a list, owns them.
    let candidates = own.filter { !FieldName.isOwning($0.field) }
    var names: [String] = []
    for reference in !candidates.isEmpty ? candidates : own.isEmpty ? facts.references : own {
      let name = "`\(reference.type).\(collection(reference.field))`"
      if !names.contains(name) { names.append(name) }
    }
    return (names, candidates.isEmpty && !own.isEmpty)
  }

  /// The collection that an element belongs to: `children[2].item` -> `children`.
  private static func collection(_ field: String) -> String {
    field.hasPrefix("[") ? field : String(field.prefix { $0 != "[" })
  }
}
