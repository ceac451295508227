import UndeadSystem

extension LeakDetector {
  /// Tells that a reference to an object is kept where no check can see it, so that the object is no leak meanwhile.
  ///
  /// For a reference in bytes that went into a file or a device (under a filter of system calls, as in containers, also into
  /// a pipe), or one that is stored in other bits than those of the
  /// address: compressed, shifted, or as the difference of two addresses. The object is not retained, and no check
  /// calls it or what it holds a leak until ``unmarkHeldOutside(_:)`` is called as many times, or the object dies.
  ///
  /// ```swift
  /// let context = Unmanaged.passRetained(request)
  /// LeakDetector.markHeldOutside(request)
  /// write(descriptor, [context.toOpaque()], 8)
  /// ```
  ///
  /// Works for every check, also of `undead run`. The memory of an object that dies while it is marked may be given
  /// back later than without the mark.
  public static func markHeldOutside(_ object: AnyObject) {
    DetectionSession.process.heldOutside.mark(object)
  }

  /// Takes back one call of ``markHeldOutside(_:)``; does nothing for an object that is not marked.
  public static func unmarkHeldOutside(_ object: AnyObject) {
    DetectionSession.process.heldOutside.unmark(object)
  }
}

/// The objects that are marked as held where no check can see it: ordinary memory, which checks come upon.
final class HeldOutside: Sendable {
  private struct Entry {
    /// What a check follows: unlike every other reference here, it counts as one that keeps the object alive.
    let reference: Unmanaged<AnyObject>
    /// Tells whether the object still lives.
    weak var living: AnyObject?
    /// Keeps the memory, not the object: nothing else comes to its address while there is an entry for it.
    unowned let anchor: AnyObject
    var count = 1

    init(_ object: AnyObject) {
      reference = .passUnretained(object)
      living = object
      anchor = object
    }
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// So many entries are a reason to look for those of dead objects.
    var limit = 64
  }

  // Unchecked: what is in it belongs to the code that marks it; here it is only compared.
  private struct Box: @unchecked Sendable {
    var state = State()
  }
  private let box = Mutex(Box())

  /// Entries, those of dead objects among them.
  var count: Int { box.withLock { $0.state.entries.count } }

  func mark(_ object: AnyObject) {
    let entry = UncheckedEntry(value: Entry(object))
    box.withLock { box in
      if box.state.entries[ObjectIdentifier(entry.value.anchor)] != nil {
        box.state.entries[ObjectIdentifier(entry.value.anchor)]?.count += 1
        return
      }
      if box.state.entries.count >= box.state.limit {
        box.state.entries = box.state.entries.filter { $0.value.living != nil }
        box.state.limit = max(64, 2 * box.state.entries.count)
      }
      box.state.entries[ObjectIdentifier(entry.value.anchor)] = entry.value
    }
  }

  func unmark(_ object: AnyObject) {
    let key = ObjectIdentifier(object)
    box.withLock { box in
      guard let count = box.state.entries[key]?.count else { return }
      if count > 1 { box.state.entries[key]?.count -= 1 } else { box.state.entries[key] = nil }
    }
  }

  private struct UncheckedEntry: @unchecked Sendable {
    let value: Entry
  }
}
