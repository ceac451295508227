/// What a suspended task waits for, as far as its stack tells.
enum Awaited {
  case stream, sequence, continuation, unknown
  /// A call of a dependency, which has the continuation.
  case library

  init(_ suspended: Backtrace?) {
    let symbols = suspended?.frames.map(\.symbol) ?? []
    let own = suspended?.frames.firstIndex { $0.isOfUser } ?? symbols.count
    self =
      symbols[..<own].contains(where: KnownLibraries.isSequence)
      ? .sequence
      : suspended?.frames[..<own].contains { $0.package != nil } ?? false
        ? .library
        : symbols.contains(where: KnownTypes.isStream)
          ? .stream : symbols.contains(where: KnownTypes.isContinuation) ? .continuation : .unknown
  }
}

/// What to do about leaks and suspects. `Situation` has the table of which of these is asked when.
enum Advice {
  /// What to do about a leak; nil if its pattern is not known.
  static func text(for facts: LeakFacts) -> String? {
    Situation.text(facts.isCycle ? Situation.cycles : Situation.unreferenced, facts)
  }

  /// What to do about an object that something that fires or waits holds.
  ///
  /// - Parameters:
  ///   - holdsBack: the references from the object to that thing.
  ///   - suspended: where it waits, if it is a task.
  ///   - path: from a root to the object.
  ///   - isOfFrame: whether only a frame of the task holds the object.
  ///   - isOfContinuation: whether a continuation leads to the task.
  ///   - handlers: of a dispatch source, those that hold the object.
  ///   - handles: where its deallocated owner has it.
  static func text(
    for kind: Suspect.Kind, holdsBack: [Reference], suspended: Backtrace?, path: [PathStep] = [],
    isOfFrame: Bool = false,
    isOfContinuation: Bool = false, handlers: [String] = [], handles: DeadOwnerHandles? = nil
  ) -> String? {
    var facts = LeakFacts(heldBy: kind, holdsBack: holdsBack, suspended: suspended)
    (facts.path, facts.isOfFrame, facts.isOfContinuation, facts.handles) = (path, isOfFrame, isOfContinuation, handles)
    facts.handlers = handlers
    return Situation.text(Situation.suspects, facts)
  }

  /// What to do about an object that outlived its scope; nil if the path tells nothing.
  ///
  /// - Parameter cycle: one of the object that a thread holds as well.
  static func text(for path: [PathStep], inCycle cycle: LeakFacts? = nil) -> String? {
    var facts = LeakFacts()
    facts.path = path
    facts.cycleAdvice = cycle.flatMap { text(for: $0) }
    return path.isEmpty ? nil : Situation.text(Situation.outlived, facts)
  }

  /// What to do about a use of a deallocated object.
  static func text(forUse kind: String, of type: String) -> String? {
    var facts = LeakFacts(type: type)
    facts.use = kind
    return Situation.text(Situation.zombies, facts)
  }

  /// What to do about a cycle that a frame of a thread names, by what would be said of a leak.
  static func text(forHeldByThread advice: String?) -> String {
    "nothing else owns these objects, they only hold each other: unless that function of the thread still uses them, they "
      + "have leaked" + (advice.map { "; \($0)" } ?? "")
  }

  // MARK: Leaks

  static func timer(_ facts: LeakFacts) -> String? {
    guard facts.holdsTimer else { return nil }
    return "Foundation's Timer on Linux never releases its block, not even after invalidate(): capture `self` weakly "
      + "in the block, so that only the timer is lost"
  }

  static func waitingTask(_ facts: LeakFacts) -> String? {
    guard facts.rootRole == .task else { return nil }
    let place = place(facts.suspended)
    if let text = library(facts) { return text }
    switch Awaited(facts.suspended) {
    case .stream:
      return "the task waits\(place) for a stream that nothing can feed any more: call finish() on its continuation"
    case .continuation:
      return "the task waits\(place) for a continuation, and nothing can resume it any more: resume it exactly once on "
        + "every path, also when its owner goes away"
    case .unknown, .sequence, .library:
      return
        "the task is suspended\(place), and nothing can resume it any more: resume its continuation, or finish the "
        + "stream that it waits for"
    }
  }

  /// A task that waits for what a library will do.
  private static func library(_ facts: LeakFacts, _ meanwhile: String = "") -> String? {
    let what: (for: String, end: String)
    switch Awaited(facts.suspended) {
    case .sequence: what = ("the next element of a library's sequence", "finish what feeds the sequence")
    case .library: what = ("a call of a library", "end what it waits for")
    case .stream, .continuation, .unknown: return nil
    }
    return
      "the task waits\(place(facts.suspended)) for \(what.for)\(meanwhile): \(what.end) when the owner is done, or cancel the "
      + "task then (the library's own continuation is not yours to resume)"
  }

  /// The function in which a task waits: " in Loader.load()".
  static func place(_ suspended: Backtrace?) -> String {
    suspended?.firstOwnFrame.map { " in \(SymbolText.short($0.symbol))" } ?? ""
  }

  static func rawMemory(_ facts: LeakFacts) -> String? {
    guard facts.rootType == NodeNames.rawMemory else { return nil }
    return "memory taken by hand (UnsafeMutablePointer.allocate or the like) is never given back: call deallocate() "
      + "on every path, deinitialize(count:) before it if it holds objects"
  }

  static func heldByForeignBlock(_ facts: LeakFacts) -> String? {
    guard let holder = facts.foreignHolder else { return nil }
    return "only an unreachable block of C code (\(holder)) refers to it: the code that lost that block, for example a "
      + "dispatch block that never ran, did not release the object"
  }

  static func lostReference(_ facts: LeakFacts) -> String? {
    guard facts.rootRole == .program || facts.rootRole == .toolchain else { return nil }
    return "nothing refers to it, yet it was retained: memory that held it was deallocated or overwritten without "
      + "deinitialize(count:) (UnsafeMutablePointer), or Unmanaged.passRetained has no release(), or C code did not give "
      + "it back (takeRetainedValue); if its address is in a file, or stored in other bits, "
      + "LeakDetector.markHeldOutside(_:) says so"
  }

  static func loneClosure(_ facts: LeakFacts) -> String? {
    guard facts.rootRole == .context else { return nil }
    return "a closure that nothing refers to was never released: look for one handed to C code, to a queue that never "
      + "runs, or retained by hand"
  }

  static func taskCycle(_ facts: LeakFacts) -> String? {
    // A child of `async let` lies in the frame of its parent, which is no task of its own.
    let holdsContinuation = facts.references.contains {
      $0.package == nil && KnownTypes.holdsContinuation(PathStep($0)) && !$0.type.hasPrefix("Swift.Async")
    }
    guard facts.roles.contains(.task) || holdsContinuation, let reference = facts.references.first else { return nil }
    let awaited = Awaited(facts.suspended)
    if let text = library(facts, ", and holds its owner meanwhile") { return text }
    if awaited == .stream {
      return "the task waits for a stream that never ends, and holds its owner meanwhile: call finish() on the "
        + "stream's continuation when the owner is done, or cancel the task then (not in a deinit, which the task prevents)"
    }
    // Optimised code does not say what it waits for: then what leads to the task does.
    if awaited == .continuation || (awaited == .unknown && holdsContinuation) || !facts.roles.contains(.task)
      || facts.types.contains(where: KnownTypes.isContinuationCanary)
    {
      return
        "the task waits\(place(facts.suspended)) for a continuation that only the cycle itself holds: resume it exactly once on "
        + "every path, also when its owner is done or the task is cancelled (withTaskCancellationHandler); a weak "
        + "`self` would not wake the task"
    }
    return
      "the task that `\(reference.fieldName)` leads to holds its owner and has not ended: cancel it when the owner is "
      + "done (not in a deinit, which the task prevents), or capture `self` weakly in the task and let its loop end"
  }

  /// The closure of a cycle that an object of this type keeps, and what it leads to.
  private static func closure(of facts: LeakFacts, in isHolder: (String) -> Bool) -> String? {
    facts.references.indices.first { isHolder(facts.references[$0].type) && facts.references[$0].holdsClosure }
      .map { captures(facts.references[$0], facts.target(of: $0)) }
  }

  static func dispatchGroup(_ facts: LeakFacts) -> String? {
    guard let captures = closure(of: facts, in: { $0 == "dispatch group" }) else { return nil }
    return "a notify block waits for a dispatch group that is never left, and \(captures): call leave() once for each "
      + "enter(), on every path; a weak capture alone leaves the block waiting"
  }

  static func suspendedQueue(_ facts: LeakFacts) -> String? {
    guard let captures = closure(of: facts, in: { $0.hasPrefix("dispatch queue") }) else { return nil }
    return "a block waits in a dispatch queue that is suspended or was never activated, and \(captures): call resume() "
      + "once for each suspend(), or activate()"
  }

  /// Its operations hold the queue until they have run.
  static func operationQueue(_ facts: LeakFacts) -> String? {
    guard
      facts.references.contains(where: {
        $0.type == "Foundation.OperationQueue" && $0.field.hasPrefix("__") && $0.field.contains("Operation")
      })
    else { return nil }
    let captures = closure(of: facts, in: { $0 == "Foundation.BlockOperation" }).map { ", and its block \($0)" } ?? ""
    return "an operation waits in an OperationQueue that is suspended, or for one that never finishes\(captures): set "
      + "`isSuspended` to false when the owner is done, after cancelAllOperations() if they are not to run; a weak capture "
      + "alone leaves the queue and the operation in memory"
  }

  /// One that is running is no leak: libdispatch has it.
  static func dispatchSource(_ facts: LeakFacts) -> String? {
    guard facts.references.contains(where: { $0.type.hasPrefix("Dispatch.DispatchSource") }) else { return nil }
    return "the dispatch source was never activated, or is suspended, and its handler captures its owner: call "
      + "activate() (resume() after suspend()), capture `self` weakly, and call cancel() when the owner goes away"
  }

  static func observer(_ facts: LeakFacts) -> String? {
    guard facts.references.contains(where: { KnownTypes.isNotificationCenter($0.type) }) else { return nil }
    return "the observer's block captures the object that keeps its token: capture `self` weakly, and call "
      + "removeObserver(_:) when the owner goes away"
  }

  /// The macro's registrar keeps the closure until the next change.
  static func observation(_ facts: LeakFacts) -> String? {
    guard
      let index = facts.references.indices.first(where: {
        facts.references[$0].type.hasPrefix("Observation.") && facts.references[$0].holdsOwnClosure
      })
    else { return nil }
    let reference = facts.references[index]
    let function = reference.closure.map { " in \(SymbolText.outer($0.symbol))" } ?? ""
    return "the onChange closure of withObservationTracking\(function) is kept until the next change, and "
      + "\(captures(reference, facts.target(of: index))): \(remedy(reference, facts.target(of: index)))"
  }

  static func keyPath(_ facts: LeakFacts) -> String? {
    guard
      let index = facts.references.indices.first(where: {
        let reference = facts.references[$0]
        return reference.isNameless && KnownTypes.isKeyPath(reference.type)
      })
    else { return nil }
    let holder = facts.references[(index + facts.references.count - 1) % facts.references.count]
    return "the key path in `\(holder.field)` of \(holder.type) keeps the arguments of its subscripts, among them "
      + "\(facts.target(of: index)): pass a value in place of the object (an identifier)"
      + (FieldRemedy.ending(holder).map { ", or \($0) when the object is done" } ?? "")
  }

  static func unmanaged(_ facts: LeakFacts) -> String? {
    guard
      let reference = facts.references.first(where: { TypeName.mentions("Swift.Unmanaged", in: $0.fieldType ?? "") })
    else { return pointerToObject(facts) }
    return
      "`\(reference.fieldName)` of \(reference.type) is an Unmanaged reference that was retained: call release() on it "
      + "when the object is done, or make it with passUnretained"
  }

  /// What C code is given: a pointer to the object itself, which is retained; not to memory that leads to it.
  private static func pointerToObject(_ facts: LeakFacts) -> String? {
    guard facts.references.count == 1, let reference = facts.references.first, isPointer(reference.fieldType),
      !reference.field.contains("["), !facts.roles.contains(.memory)
    else { return nil }
    return
      "`\(reference.field)` of \(reference.type) is a pointer to an object that was retained by hand: call release() "
      + "(Unmanaged.fromOpaque(_:)) when the object is done, or make the pointer with passUnretained"
  }

  static func memory(_ facts: LeakFacts) -> String? {
    guard facts.roles.contains(.memory), let reference = facts.references.first(where: { isPointer($0.fieldType) })
    else { return nil }
    return "`\(reference.fieldName)` of \(reference.type) points to memory that holds its owner: deinitialize and "
      + "deallocate it when the object is done, not only in its deinit, which never runs"
  }

  private static func isPointer(_ type: String?) -> Bool {
    type.map { $0.hasPrefix("Swift.Unsafe") || $0.hasPrefix("Swift.Optional<Swift.Unsafe") } ?? false
  }

  static func collectionOfSelf(_ facts: LeakFacts) -> String? {
    guard facts.references.count == 1, let reference = facts.references.first, reference.field.contains("[") else {
      return nil
    }
    return
      "`\(FieldRemedy.whole(reference.field))` holds the very object that it belongs to: remove it from there before the "
      + "last use, or keep it weakly"
  }

  static func selfReference(_ facts: LeakFacts) -> String? {
    guard facts.references.count == 1, let reference = facts.references.first, !reference.isNameless else { return nil }
    let start = "`\(reference.fieldName)` refers to the object itself: "
    if FieldRemedy.isPart(reference) {
      return start + "give `\(reference.fieldName.prefix { $0 != "." })` another value when the object is done"
    }
    return start + "set it to nil when the object is done"
      + (FieldRemedy.canBeWeak(reference) ? ", or make it `weak`" : "")
  }

  static func backReference(_ facts: LeakFacts) -> String? {
    let ranks = facts.references.map {
      $0.package == nil && !ToolchainModules.declare($0.type) ? FieldName.backRank($0.field) : 0
    }
    guard let best = ranks.max(), best > 0, let index = ranks.lastIndex(of: best) else { return nil }
    let reference = facts.references[index]
    let name = "`\(reference.fieldName)` of \(reference.type)"
    if !FieldRemedy.canBeWeak(reference), let end = FieldRemedy.ending(reference) {
      return "\(name) seems to refer back to what holds it: \(end) when the objects are done"
    }
    // The name of a delegate says that it does not own; other names only suggest it.
    return FieldName.isDelegate(reference.field)
      ? "\(name) refers back to what holds it: declare it `weak`"
      : "\(name) seems to refer back to what holds it: declare it `weak` (`unowned` if it never outlives that object)"
  }

  /// The member of a collection that refers to the object that has the collection.
  static func memberOfCollection(_ facts: LeakFacts) -> String? {
    guard facts.references.count == 2, let owner = facts.references.first, owner.field.contains("["),
      let back = facts.references.last, !back.field.contains("["), back.package == nil, FieldRemedy.canBeWeak(back)
    else { return nil }
    return
      "`\(back.field)` of \(back.type) refers back to what holds it in `\(FieldRemedy.whole(owner.field))`: declare it "
      + "`weak` (`unowned` if it never outlives that object)"
  }

  /// The elements of Foundation's collections are strong, and the collection itself is not the culprit.
  static func memberOfFoundation(_ facts: LeakFacts) -> String? {
    guard
      let index = facts.references.indices.first(where: {
        KnownTypes.isFoundationCollection(facts.references[$0].type) && !facts.references[$0].holdsClosure
      })
    else { return nil }
    let holder = facts.references[(index + facts.references.count - 1) % facts.references.count]
    guard holder.isOfUser, !holder.isNameless, index != (index + facts.references.count - 1) % facts.references.count
    else { return nil }
    let element =
      facts.references[(index + 1)...].first { !ToolchainModules.declare($0.type) }?.type ?? facts.references[0].type
    return "`\(holder.field)` of \(holder.type), a \(TypeName.unspecialized(facts.references[index].type)), has "
      + "\(TypeName.unspecialized(element)) as an element, which leads back: remove it from there when the "
      + "object is done, or put a weak reference or an identifier in it"
  }

  /// What an enum's case or a tuple holds cannot be declared weak, nor be nil.
  static func payload(_ facts: LeakFacts) -> String? {
    let own = changeable(facts)
    guard let part = own.first(where: { FieldRemedy.isPart($0) && FieldRemedy.ending($0) != nil }),
      let end = FieldRemedy.ending(part)
    else { return nil }
    let others = names(own.filter { FieldRemedy.canBeWeak($0) && !FieldName.isOwning($0.field) })
    guard let other = others.first else {
      return "`\(part.field)` of \(part.type) holds it as part of a value: \(end) when the objects are done"
    }
    return others.count == 1
      ? "make \(other) `weak` or `unowned` if it does not own its object, or \(end) when the objects are done"
      : "\(end) when the objects are done, or make the one of these references that does not own its object `weak` or "
        + "`unowned`: \(list(others))"
  }

  static func anyCycle(_ facts: LeakFacts) -> String? {
    guard !facts.references.isEmpty else { return nil }
    return choose(facts)
  }

  /// What to do where nothing tells which of several references is not meant to own.
  static func choose(_ facts: LeakFacts) -> String {
    let own = changeable(facts)
    // What has children, or the next of a list, owns them.
    let candidates = own.filter { !FieldName.isOwning($0.field) }
    let chosen = !candidates.isEmpty ? candidates : own
    let (names, areOwning) = (names(chosen), candidates.isEmpty && !own.isEmpty)
    if names.isEmpty {
      return
        "no field of the program's has a name here: look for what refers to \(facts.references[0].type), and end that "
        + "when the objects are done"
    }
    // A collection cannot be weak, nor be nil.
    if names.count == 1, let whole = chosen.first, whole.field.contains("[") {
      return
        "empty `\(FieldName.shown(FieldRemedy.whole(whole.field), of: whole.type))` of \(whole.type) when the objects are done, or keep weak references or "
        + "identifiers in it"
    }
    if chosen.allSatisfy({ $0.field.contains("[") }) {
      return "empty one of these collections when the objects are done, or keep weak references or identifiers in it: "
        + list(names)
    }
    if names.count == 1, let one = chosen.first, !FieldRemedy.canBeWeak(one), let end = FieldRemedy.ending(one) {
      return "\(end) when the objects are done"
    }
    let clear = chosen.contains { FieldRemedy.canBeNil($0) && !$0.field.contains("[") }
    return switch (names.count, areOwning) {
    case (1, false):
      "\(names[0]) is most likely the reference that does not own its object: make it `weak` or `unowned`"
        + (clear ? ", or set it to nil when the objects are done" : "")
    case (_, false):
      "make the one of these references that does not own its object `weak` or `unowned`"
        + (clear ? ", or set one to nil when the objects are done" : "") + ": \(list(names))"
    case (1, true):
      "\(names[0]) seems to own its object: when the objects are done "
        + (clear ? "set it to nil, or call" : "call")
        + " what ends it (cancel, finish); make it `weak` only if it is not "
        + "meant to own"
    case (_, true):
      "these references all seem to own their objects: when the objects are done "
        + (clear ? "set one to nil, or call" : "call")
        + " what ends it (cancel, finish); make one `weak` only if it is not "
        + "meant to own: \(list(names))"
    }
  }

  /// The references that the user could change; those of a library where there is no other.
  private static func changeable(_ facts: LeakFacts) -> [Reference] {
    let named = facts.references.filter { !$0.isNameless && !ToolchainModules.declare($0.type) && !$0.isOfRuntime }
    let ofUser = named.filter { $0.package == nil }
    return ofUser.isEmpty ? named : ofUser
  }

  private static func names(_ references: [Reference]) -> [String] {
    references.map { "`\($0.type).\(FieldName.shown(FieldRemedy.whole($0.field), of: $0.type))`" }
      .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  static func list(_ names: [String]) -> String {
    names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", ..." : "")
  }
}
