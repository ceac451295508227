#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Synchronization

/// New timers that other threads have scheduled, until a thread reads the timers of the loop.
///
/// It has a lock of its own: those who schedule and the loop that fires meet once for many timers, not for each. It is open
/// only while the loop is awake, which then looks into it before it sleeps, so that nobody has to wake it.
struct Inbox {
  struct Entry {
    /// Retained. No other thread knows the timer yet.
    var timer: Unmanaged<TrackedTimer>
    var mode: Int32
  }

  /// What does not fit in goes the slower way.
  static let capacity = 1024

  private struct State {
    var entries: UnsafeMutablePointer<Entry>
    var count = 0
    var isOpen = false
    /// Empty, for the next to fill while the loop works on the others.
    var spare: UnsafeMutablePointer<Entry>
  }

  let lock = LoopLock()
  private let state: UnsafeMutablePointer<State>
  /// Whether it is worthwhile to take the lock.
  private let isOpen: UnsafeMutablePointer<Atomic<Bool>>
  private let hasEntries: UnsafeMutablePointer<Atomic<Bool>>

  /// It is never freed, as the state of the loop is not.
  init() {
    state = .allocate(capacity: 1)
    state.initialize(
      to: State(entries: .allocate(capacity: Self.capacity), spare: .allocate(capacity: Self.capacity)))
    isOpen = .allocate(capacity: 1)
    isOpen.initialize(to: Atomic(false))
    hasEntries = .allocate(capacity: 1)
    hasEntries.initialize(to: Atomic(false))
  }

  /// Whether there is something to take. An entry that the caller knows of is seen.
  @inline(__always)
  var isEmpty: Bool { !hasEntries.pointee.load(ordering: .acquiring) }

  /// Adds a timer. False if the inbox is closed or full: the timer goes to the loop itself.
  @inline(__always)
  func push(_ timer: TrackedTimer, mode: Int32) -> Bool {
    guard isOpen.pointee.load(ordering: .relaxed) else { return false }
    return lock.withLock {
      guard state.pointee.isOpen, state.pointee.count < Self.capacity else { return false }
      (state.pointee.entries + state.pointee.count).initialize(
        to: Entry(timer: Unmanaged.passRetained(timer), mode: mode))
      state.pointee.count &+= 1
      if state.pointee.count == 1 { hasEntries.pointee.store(true, ordering: .releasing) }
      return true
    }
  }

  /// Opens or closes the inbox; what is in it stays. The caller holds the loop's lock.
  func setOpen(_ open: Bool) {
    if isOpen.pointee.load(ordering: .relaxed) == open { return }
    lock.withLock {
      state.pointee.isOpen = open
      isOpen.pointee.store(open, ordering: .relaxed)
    }
  }

  /// Everything in it, valid until the next call; to be cleared by `clear(_:)`. The caller holds the loop's lock.
  func takeAll() -> UnsafeMutableBufferPointer<Entry> {
    lock.withLock {
      let taken = UnsafeMutableBufferPointer(start: state.pointee.entries, count: state.pointee.count)
      swap(&state.pointee.entries, &state.pointee.spare)
      state.pointee.count = 0
      hasEntries.pointee.store(false, ordering: .releasing)
      return taken
    }
  }

  /// Wipes entries that were dealt with: what they leave would look like references to a scan of memory.
  func clear(_ taken: UnsafeMutableBufferPointer<Entry>) {
    UnsafeMutableRawBufferPointer(taken).initializeMemory(as: UInt8.self, repeating: 0)
  }
}
#endif
