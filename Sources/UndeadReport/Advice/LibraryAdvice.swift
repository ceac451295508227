/// What to do about leaks that objects of a dependency take part in: their references are not the user's to change.
enum LibraryAdvice {
  /// What ends things, as libraries call it.
  static let endings = "close, finish, shut down, cancel or invalidate"

  /// A cycle of a dependency's objects alone.
  static func cycle(_ facts: LeakFacts) -> String? {
    guard let package = facts.references.package else { return nil }
    let start = "these objects are \(package)'s and hold each other until they are ended; most likely "
    guard let (frame, called) = facts.allocation.start else {
      return start + "the call that does so is missing: look for what you started there and did not \(endings)"
    }
    let made = called.map { " by \(StackText.called($0, withPackage: false))" } ?? ""
    return start + "what \(SymbolText.short(frame.symbol)) made\(made) is never ended: \(endings) it"
  }

  /// An object of a dependency that nothing refers to.
  static func object(_ facts: LeakFacts) -> String? {
    guard let package = facts.package, facts.rootRole == .program else { return nil }
    let origin = facts.allocation.start.map { ", which \(SymbolText.short($0.frame.symbol)) started" } ?? ""
    return "nothing refers to this object of \(package)\(origin), yet it was retained: most likely the call that ends "
      + "it is missing (to \(endings) it), else the library forgot a release"
  }

  /// Their types, and those that they put into types of others: `(extension in OpenCombine):Swift.Result.Inner`.
  private static func isPublisher(_ type: String) -> Bool {
    KnownLibraries.publishers.contains { type.hasPrefix("\($0).") || type.hasPrefix("(extension in \($0)):") }
  }

  private static func isAssignment(_ reference: Reference) -> Bool {
    isPublisher(reference.type) && TypeName.unspecialized(reference.type).hasSuffix(".Assign")
  }

  /// What keeps a subscription of its own, which holds it. The operators in between own each other by design.
  private static func keeper(_ facts: LeakFacts) -> String? {
    guard facts.references.contains(where: { isPublisher($0.type) }),
      let keeper = facts.references.first(where: { $0.isOfUser && !isPublisher($0.type) })
    else { return nil }
    return "`\(NodeNames.withoutIndices(keeper.field).replacing("[]", with: ""))` of \(keeper.type)"
  }

  static func assignment(_ facts: LeakFacts) -> String? {
    guard let keeper = keeper(facts), facts.references.contains(where: isAssignment) else { return nil }
    return
      "assign(to:on:) holds its object, which leads to the subscription by \(keeper): use sink with `[weak self]` instead, "
      + "or cancel the subscription when the object is done"
  }

  static func subscription(_ facts: LeakFacts) -> String? {
    guard let keeper = keeper(facts), let index = facts.references.firstIndex(where: \.holdsOwnClosure) else {
      return nil
    }
    let (closure, captured) = (facts.references[index], facts.target(of: index))
    return "the closure of the subscription \(Advice.captures(closure, captured)), which leads to the subscription by "
      + "\(keeper): \(Advice.remedy(closure, captured)), or cancel the subscription when the owner is done"
  }

  static func subscriber(_ facts: LeakFacts) -> String? {
    keeper(facts).map {
      "a publisher or subscription holds its owner, which leads to it by \($0): cancel the subscription, or complete the "
        + "publisher, when the owner is done"
    }
  }

  /// Publishers, operators and subscriptions alone, in a build of their own package. They own each other by design.
  static func publishers(_ facts: LeakFacts) -> String? {
    guard facts.references.count > 1, facts.references.contains(where: { isPublisher($0.type) }),
      facts.references.allSatisfy({ ($0.isOfRuntime || isPublisher($0.type)) && !$0.holdsOwnClosure })
    else { return nil }
    return "a subscription and its publisher hold each other until one of them ends it: most likely it was never "
      + "cancelled, and the publisher never completed"
  }

  private static func isFuture(_ reference: Reference) -> Bool { reference.type.hasPrefix(KnownLibraries.future) }

  /// Futures of NIO that wait for each other: their closures hold them by design until the promise is completed.
  static func future(_ facts: LeakFacts) -> String? {
    guard facts.references.contains(where: isFuture),
      facts.references.allSatisfy({ isFuture($0) || $0.isOfRuntime })
    else { return nil }
    return "what waits for a future is held by it until its promise is completed: most likely a promise is lost; "
      + "succeed or fail it on every path"
  }

  /// A closure of the user's that NIO calls later, and what it captures.
  private static func later(_ facts: LeakFacts) -> (closure: Reference, captures: String)? {
    let closures = facts.references.indices.filter { facts.references[$0].holdsClosure }
    guard closures.count == 1, let index = closures.first else { return nil }
    return (facts.references[index], Advice.captures(facts.references[index], facts.target(of: index)))
  }

  /// With a weak capture it would find nothing to do when it is called.
  static func pendingCall(_ facts: LeakFacts) -> String? {
    guard let (closure, captures) = later(facts), isFuture(closure) else { return nil }
    return "a closure that waits for a future \(captures), and the future holds it until its promise is completed: "
      + "succeed or fail that promise on every path; capture weakly only if the closure has nothing to do without it"
  }

  static func scheduledTask(_ facts: LeakFacts) -> String? {
    guard let (closure, captures) = later(facts), closure.type.hasPrefix(KnownLibraries.embeddedLoop),
      closure.field.hasPrefix("scheduledTasks")
    else { return nil }
    return "a scheduled task \(captures), and its event loop holds it until it has run or was cancelled: cancel what "
      + "schedule returned, and in a test advance the loop or shut it down"
  }

  private static func mentions(_ types: [String], _ facts: LeakFacts) -> Bool {
    facts.references.contains { reference in types.contains { reference.type.hasPrefix($0) } }
  }

  /// A handler of the user's that keeps its context, without the channel: that is closed.
  static func handlerContext(_ facts: LeakFacts) -> String? {
    guard mentions(KnownLibraries.handlerContexts, facts), !mentions(KnownLibraries.channels, facts),
      let own = facts.references.first(where: { $0.isOfUser && !$0.isNameless })
    else { return nil }
    return "the handler keeps its context in `\(own.field)` of \(own.type), and the context keeps the handler: set "
      + "`\(own.field)` to nil in handlerRemoved(context:)"
  }

  /// A channel of NIO that was not closed, and a handler of the user's.
  static func channel(_ facts: LeakFacts) -> String? {
    guard mentions(KnownLibraries.channels + KnownLibraries.handlerContexts, facts) else { return nil }
    let own = facts.references.first { $0.isOfUser && !$0.isNameless }
    let field = own.map { " (`\($0.field)` of \($0.type))" } ?? ""
    return "a channel holds its handlers until it is closed: most likely close() is missing, or finish() for an "
      + "embedded or testing channel; a handler that keeps its context or channel\(field) lets go of it in "
      + "handlerRemoved(context:)"
  }

  /// What only puts a value of the user's into a box: there is nothing to end.
  static func isBox(_ type: String) -> Bool {
    KnownLibraries.boxes.contains(where: type.hasPrefix)
  }

  /// Objects of the user's and of a dependency.
  static func mixed(_ facts: LeakFacts) -> String? {
    guard let package = facts.references.lazy.filter({ !isBox($0.type) }).compactMap(\.package).first,
      let field = facts.references.first(where: { $0.isOfUser && !$0.isNameless })
    else { return nil }
    return "objects of \(package) are part of the cycle, which let go when they are ended: most likely that call is "
      + "missing (to \(endings) them); else set `\(field.field)` of \(field.type) to nil when the object is done"
  }
}
