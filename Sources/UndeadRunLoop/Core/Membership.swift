#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Synchronization

/// Which loop an item is in: a source, an observer. The life of every item is the same: in no loop, in one, in none again,
/// and over at last.
///
/// The word is also the item's lock. While the item is in a loop, that loop's lock guards it; while it is in none, the
/// thread that made the word `locked` has it. An item is claimed and entered into its loop's tables while the loop's lock is
/// held once: the end of the item comes before both, or after both.
struct Membership: ~Copyable {
  /// What became of an item that was to be put into a mode.
  enum Outcome {
    case added
    /// It was in other modes of this loop.
    case widened
    case alreadyThere
    case refused(Refusal)
  }

  enum Refusal {
    /// The loop has ended.
    case finished
    /// The item has ended.
    case over
    /// It is in the loop with these bits. Its name is asked for without a lock: two of them are never held at a time.
    case elsewhere(UInt)
    case full
    case unusable(descriptor: Int32, errno: Int32)
  }

  private enum Word {
    static let none: UInt = 0
    static let locked: UInt = 1
    static let over: UInt = 2
    /// `over`, and some thread has it for itself: it is over for all others.
    static let overLocked: UInt = 3
  }

  private let word = Atomic<UInt>(Word.none)

  var isOver: Bool { Self.isOver(word.load(ordering: .acquiring)) }

  private static func isOver(_ bits: UInt) -> Bool { bits == Word.over || bits == Word.overLocked }

  /// Makes the item one of `core`'s, whose lock the caller holds. Claim and entry are one: nobody can end the item in between.
  ///
  /// - Parameters:
  ///   - enter: enters an item that was in no loop. Returns why it cannot, nil if it did.
  ///   - widen: puts one that is in the loop into more modes. Returns whether one was new.
  borrowing func join(_ core: LoopCore, enter: () -> Refusal?, widen: () -> Bool) -> Outcome {
    if core.state.pointee.isFinished { return .refused(.finished) }
    var backOff = BackOff()
    while true {
      let claim = word.compareExchange(expected: Word.none, desired: core.bits, ordering: .acquiringAndReleasing)
      if claim.exchanged {
        guard let refusal = enter() else { return .added }
        leave()
        return .refused(refusal)
      }
      switch claim.original {
      case core.bits: return widen() ? .widened : .alreadyThere
      case Word.over, Word.overLocked: return .refused(.over)
      case Word.locked: backOff.wait()
      default: return .refused(.elsewhere(claim.original))
      }
    }
  }

  /// The item is in no loop any more, and may go to another. The caller holds the lock of its loop.
  borrowing func leave() { word.store(Word.none, ordering: .releasing) }

  /// Whether the item is one of `core`'s. The caller holds that lock.
  borrowing func isMember(of core: LoopCore) -> Bool { word.load(ordering: .relaxed) == core.bits }

  /// Calls `body` with exclusive access to the item, and with the loop that it is in. `body` takes no other lock.
  borrowing func withHome<Output>(_ body: (LoopCore?) -> Output) -> Output {
    var backOff = BackOff()
    while true {
      if let result = access(restoring: nil, &backOff, body) { return result }
      // An item that has ended is never entered anywhere.
      if word.compareExchange(expected: Word.over, desired: Word.overLocked, ordering: .acquiringAndReleasing).exchanged
      {
        defer { word.store(Word.over, ordering: .releasing) }
        return body(nil)
      }
    }
  }

  /// Ends the item: calls `body`, which takes it out of the loop that it is in. Nil if it has ended already.
  borrowing func end<Output>(_ body: (LoopCore?) -> Output) -> Output? {
    var backOff = BackOff()
    while !isOver {
      if let result = access(restoring: Word.over, &backOff, body) { return result }
    }
    return nil
  }

  /// One attempt. `after` is what the word becomes, nil for what it was.
  private borrowing func access<Output>(
    restoring after: UInt?, _ backOff: inout BackOff, _ body: (LoopCore?) -> Output
  ) -> Output? {
    let bits = word.load(ordering: .acquiring)
    switch bits {
    case Word.over: return nil
    case Word.locked, Word.overLocked:
      backOff.wait()
      return nil
    case Word.none:
      guard word.compareExchange(expected: bits, desired: Word.locked, ordering: .acquiringAndReleasing).exchanged
      else { return nil }
      defer { word.store(after ?? Word.none, ordering: .releasing) }
      return body(nil)
    default:
      guard let core = LoopCore(bits: bits) else { preconditionFailure("a membership of no loop") }
      core.lock()
      defer { core.unlock() }
      // It may have left while the lock was waited for.
      guard word.load(ordering: .relaxed) == bits else { return nil }
      defer { if let after { word.store(after, ordering: .releasing) } }
      return body(core)
    }
  }
}
#endif
