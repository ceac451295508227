#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
extension TrackedRunLoop {
  /// The object that the loop was made for; it is held weakly. Diagnostics report a loop that still runs when it is gone.
  public var owner: AnyObject? {
    get { identity.owner }
    set { identity.owner = newValue }
  }
}

extension KnownLoop {
  /// Reports a loop that runs although its owner is gone.
  func checkOwner() {
    let seen = withLock {
      (isRunning: !core.state.pointee.activations.isEmpty, timers: core.state.pointee.timers.count)
    }
    guard let seen, seen.isRunning, let orphaned = identity.takeOrphaned() else { return }
    let name = identity.name
    Diagnostics.report(
      .loopOutlivesOwner,
      "run loop \"\(name)\" still runs, with \(seen.timers) timer(s), although its owner, \(orphaned), is gone",
      loop: name, details: ["owner": orphaned, "timers": "\(seen.timers)"])
  }
}
#endif
