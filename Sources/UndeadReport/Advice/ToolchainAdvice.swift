/// What to do about leaks of the toolchain's own objects: their references are not the user's to change.
enum ToolchainAdvice {
  /// A cycle of the toolchain's objects alone.
  static func cycle(_ facts: LeakFacts) -> String? {
    let areForeign = facts.references.allSatisfy { reference in
      !reference.holdsOwnClosure && (ToolchainModules.declare(reference.type) || reference.isOfRuntime)
    }
    guard areForeign, facts.references.contains(where: { ToolchainModules.declare($0.type) }) else { return nil }
    return "these objects are the toolchain's and hold each other: undo what linked them when they are done (remove, "
      + "cancel, invalidate or close), if there is a call for it; else the toolchain itself leaks them"
  }

  /// What Foundation declares cannot be made weak: a URLSession keeps its delegate until it is invalidated.
  static func sessionDelegate(_ facts: LeakFacts) -> String? {
    guard facts.references.contains(where: { $0.type == "FoundationNetworking.URLSession" && $0.field == "delegate" })
    else { return nil }
    return
      "a URLSession keeps its delegate until it is invalidated: call finishTasksAndInvalidate() or invalidateAndCancel() "
      + "when the owner is done (not in its deinit, which the session prevents)"
  }

  /// An object that a function of the toolchain made, and to which nothing refers.
  static func object(_ facts: LeakFacts) -> String? {
    guard facts.rootRole == .toolchain, let maker = facts.allocation.makerInToolchain else { return nil }
    let name = SymbolText.short(maker.symbol)
    return "nothing refers to this object, which \(name) made: either \(name) forgot to release it, or it was retained "
      + "by hand (Unmanaged.passRetained) and never released"
  }

  /// What hangs off the attributes of a string of Foundation.
  static func attributes(_ facts: LeakFacts) -> String? {
    guard facts.rootType == KnownLeaks.attributes else { return nil }
    return "Foundation on Linux never releases the attributes of an NSAttributedString: keep objects out of them that "
      + "must be deallocated, for example by an identifier that stands for the object"
  }
}

extension Backtrace {
  /// The toolchain's function that the program called, unless it only makes an object for its caller.
  fileprivate var makerInToolchain: Frame? {
    guard let position = frames.firstIndex(where: { !$0.system }), position > 0 else { return nil }
    let maker = frames[position - 1]
    return SymbolText.isRuntimeEntry(maker.symbol) || SymbolText.isAllocatingInitializer(maker.symbol) ? nil : maker
  }
}
