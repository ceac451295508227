#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Synchronization

/// The state of one loop. It lives in memory that is reused but never freed: a timer keeps a plain pointer to it, so
/// that scheduling costs no reference counting, and a stale pointer still finds a lock and a table to look itself up in.
///
/// Everything is guarded by the lock in `LoopHeader`; functions say so where they expect the caller to hold it.
struct LoopState: ~Copyable {
  /// The loop that uses this state, nil while it waits for reuse.
  var loop: Unmanaged<TrackedRunLoop>?
  var identity: LoopIdentity?
  var isFinished = false
  /// Its thread still runs jobs, or will hand them over.
  var takesJobs = true
  var clock: RunLoopClock = RunLoopClock.monotonic
  /// Lets the hot paths read the clock without a dynamic call.
  var clockIsMonotonic = true
  var poller = Poller()

  var timers = TimerQueue()
  var commonModes: [Int32] = [ModeTable.defaultMode, ModeTable.trackingMode]

  /// The number of the thread that runs the loop or that it belongs to, 0 for none.
  var owner: UInt = 0
  var threadID: Int32 = 0
  var sleep = SleepState()
  /// Another thread scheduled something since the loop last slept: more may follow soon.
  var wasHandedTimers = false

  var work = WorkQueue()
  var activations = ActivationStack()
  /// The loop waits in its common modes also when there is nothing to wait for.
  var isAnchored = false
  var driving = DrivingState()

  var sources = SourceTable()
  /// What the poll knows of them.
  var polled = PollSet()
  /// The poll knows the descriptor of the main queue.
  var mainQueuePolled = false
  var observers = ObserverTable()

  var statistics = LoopStatistics()
}

/// What a stale handle may still find: it never changes, and is never freed.
struct LoopHeader {
  let lock = LoopLock()
  /// How many threads are about to write to the wake descriptor, which must not be closed then. Only raised under the lock.
  let wakers: UnsafeMutablePointer<Atomic<Int>>
  let inbox = Inbox()
  let state: UnsafeMutablePointer<LoopState>
}

/// What a loop counts about itself.
struct LoopStatistics {
  var passes = 0
  /// It was reported that nobody runs the loop.
  var isReportedIdle = false
  var wakeUps = 0
  var fires = 0
  var missed = 0
  /// The callback that took longest in this pass or the one before, for late ones to point at.
  var slowest: (description: String, nanoseconds: Int64)?
  var slowestOfLastPass: (description: String, nanoseconds: Int64)?
}

/// A pointer to a loop's state, and the operations on it.
struct LoopCore: @unchecked Sendable, Equatable {
  // Unchecked: what the pointers lead to is guarded by its lock.
  private let header: UnsafePointer<LoopHeader>
  let state: UnsafeMutablePointer<LoopState>

  init(_ header: UnsafePointer<LoopHeader>) {
    self.header = header
    state = header.pointee.state
  }

  /// The loop whose `bits` these are, nil for those that stand for none.
  init?(bits: UInt) {
    guard let header = UnsafePointer<LoopHeader>(bitPattern: bits) else { return nil }
    self.init(header)
  }

  @inline(__always) var bits: UInt { UInt(bitPattern: header) }
  @inline(__always) var inbox: Inbox { header.pointee.inbox }
  var lockForForks: LoopLock { header.pointee.lock }

  /// Takes the lock, and the timers that other threads have scheduled: with the lock held, all timers are visible.
  @inline(__always)
  func lock() {
    header.pointee.lock.lock()
    if !inbox.isEmpty { takeInbox() }
  }

  /// Takes the lock to go on with a timer that the loop has.
  @inline(__always) func lockAgain() { header.pointee.lock.lock() }

  /// Gives the lock back, and wakes the loop if what was done under the lock is a reason to.
  @inline(__always)
  func unlock() {
    if state.pointee.sleep.mustWake { unlockAndWake() } else { header.pointee.lock.unlock() }
  }

  @inline(never)
  private func unlockAndWake() {
    guard state.pointee.sleep.takeWake() else { return header.pointee.lock.unlock() }
    if state.pointee.poller.isInherited { openPoller() }
    let descriptor = state.pointee.poller.wake
    header.pointee.wakers.pointee.add(1, ordering: .relaxed)
    header.pointee.lock.unlock()
    // Without the lock, which the loop wants as soon as it is awake.
    undead_loop_wake(descriptor)
    header.pointee.wakers.pointee.subtract(1, ordering: .releasing)
  }

  /// The loop is gone. Its descriptors stay open if they are to serve the next, or if a thread is about to write to one.
  func letGoOfPoller(entirely: Bool) {
    withLock {
      // In a child the numbers may stand for files of the program's by now.
      if state.pointee.poller.isInherited { openPoller() }
      state.pointee.poller.closeWhatServesOneLoop()
      guard entirely, header.pointee.wakers.pointee.load(ordering: .acquiring) == 0 else { return }
      state.pointee.poller.close()
      state.pointee.polled.forgetAll()
    }
  }

  @inline(__always)
  func withLock<Output, Failure: Error>(_ body: () throws(Failure) -> Output) throws(Failure) -> Output {
    lock()
    defer { unlock() }
    return try body()
  }

  var name: String { withLock { state.pointee.identity }?.name ?? "" }

  /// Calls `body` with the lock, or returns nil if that stays held for `nanoseconds`.
  func withLock<Output>(within nanoseconds: Int64, _ body: () -> Output) -> Output? {
    guard header.pointee.lock.tryLock(for: nanoseconds) else { return nil }
    defer { unlock() }
    if !inbox.isEmpty { takeInbox() }
    return body()
  }
}

// MARK: - Sets of modes

extension LoopCore {
  /// Makes the queue of timers, and the common modes, what a new loop has. The caller holds the lock.
  func prepareSets() {
    state.pointee.commonModes = [ModeTable.defaultMode, ModeTable.trackingMode]
    state.pointee.timers.prepare([[ModeTable.defaultMode], expand(ModeTable.commonMode)])
  }

  /// The modes that adding to `mode` means. The caller holds the lock.
  func expand(_ mode: Int32) -> [Int32] {
    mode == ModeTable.commonMode ? (state.pointee.commonModes + [mode]).sorted() : [mode]
  }

  /// Makes `mode` common: whatever is in the common modes is in it too. The caller holds the lock.
  func addCommonMode(_ mode: Int32) {
    guard mode != ModeTable.commonMode, !state.pointee.commonModes.contains(mode) else { return }
    state.pointee.commonModes.append(mode)
    state.pointee.timers.addCommonMode(mode)
    state.pointee.sources.widen(by: mode)
    state.pointee.observers.widen(by: mode)
    if state.pointee.polled.mode == mode {
      state.pointee.polled.mode = -1
      syncPolled(mode)
    }
    state.pointee.sleep.noteWork()
  }
}
#endif
