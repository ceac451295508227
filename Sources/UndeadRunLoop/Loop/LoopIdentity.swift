#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch

/// What is known of a loop beside its state. Checks and diagnostics, which run on threads of their own, hold on to this and
/// never to the loop: theirs could be the last reference to it, and end it where it must not end.
final class LoopIdentity: Sendable {
  let clock: RunLoopClock
  private let label: Locked<String>
  private let ownership = Locked(Ownership(nil))
  /// Stands in for the loop's thread when that has ended.
  private let ended = Locked<DispatchQueue?>(nil)

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

  init(name: String, clock: RunLoopClock) {
    label = Locked(name)
    self.clock = clock
  }

  var name: String {
    get { label.withLock { $0 } }
    set { label.withLock { $0 = newValue } }
  }

  /// The queue in place of the loop's thread, made when it is first needed. It is serial, and no other loop's: a job may wait
  /// for one of another loop.
  var standIn: DispatchQueue {
    ended.withLock { queue in
      if let queue { return queue }
      let made = DispatchQueue(label: "UndeadRunLoop.ended")
      queue = made
      return made
    }
  }

  /// The object that the loop was made for.
  var owner: AnyObject? {
    get { ownership.withLock { $0.owner } }
    set {
      let new = Ownership(newValue)
      ownership.withLock { $0 = new }
    }
  }

  /// The owner's type, also when the owner is gone; nil if there never was one.
  var ownerType: String? { ownership.withLock { $0.typeName } }

  /// The type of an owner that is gone, at the first request.
  func takeOrphaned() -> String? {
    // Let go of without the lock: it may be the last reference.
    var owner: AnyObject?
    defer { withExtendedLifetime(owner) {} }
    return ownership.withLock { ownership in
      owner = ownership.owner
      guard let typeName = ownership.typeName, owner == nil, !ownership.isReported else { return nil }
      ownership.isReported = true
      return typeName
    }
  }
}
#endif
