extension TrackedRunLoop {
  /// The object that the loop was made for; it is held weakly. Diagnostics report a loop that still runs when it is gone.
  public var owner: AnyObject? {
    get { ownership.withLock { $0.owner } }
    set {
      let new = Ownership(newValue)
      ownership.withLock { $0 = new }
    }
  }

  // The owner is only ever asked whether it is there, which is safe from any thread.
  struct Ownership: @unchecked Sendable {
    weak var owner: AnyObject?
    var typeName: String?
    var isReported = false

    init(_ owner: AnyObject?) {
      self.owner = owner
      typeName = owner.map(Diagnostics.typeName(of:))
    }
  }

  func checkOwner() {
    let isRunning = core.withLock { core.state.pointee.depth > 0 }
    let orphaned = ownership.withLock { ownership -> String? in
      guard isRunning, let typeName = ownership.typeName, ownership.owner == nil, !ownership.isReported else {
        return nil
      }
      ownership.isReported = true
      return typeName
    }
    guard let orphaned else { return }
    let timers = core.withLock { core.state.pointee.slots.used }
    Diagnostics.report(
      .loopOutlivesOwner, "\(self) still runs, with \(timers) timer(s), although its owner, \(orphaned), is gone",
      loop: name, details: ["owner": orphaned, "timers": "\(timers)"])
  }
}
