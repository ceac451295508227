import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import UndeadRunLoop

/// Several threads that do random things to several loops, and what must hold however they interleave.
final class StressedThreads: Sendable {
  /// What is wrong if it holds anything at the end.
  let complaints = Guarded<[String]>([])
  let seed: UInt64
  /// Two loops of threads, and one that a Dispatch queue drives.
  let loops: [TrackedRunLoop]
  private let threads: [RunLoopThread]
  private let driver: RunLoopDriver
  private let hoppers: [Hopper]
  /// Where tasks begin: the threads of the concurrency runtime may all be kept by other tests.
  private let tasks = RunLoopThread(name: "stress tasks")
  /// A thread's loop ends while the others go on with it.
  let endsEarly: Bool
  let timers = Guarded<[StressedTimer]>([])
  let sources: [TrackedRunLoopSource]
  let observers = Guarded<[TrackedRunLoopObserver]>([])
  let blocks = Guarded<[StressedBlock]>([])
  /// Objects that callbacks hold, of which none may be left.
  let held = Atomic(0)
  private let hopsBegun = Atomic(0)
  private let hopsEnded = Atomic(0)
  let working: Atomic<Int>
  /// What each worker does now, for the question why it does not end.
  let doing: Guarded<[String]>

  static let workers = 4
  static let operations = 250

  init(seed: UInt64, endsEarly: Bool) {
    self.seed = seed
    self.endsEarly = endsEarly
    threads = (0..<2).map { RunLoopThread(name: "stress \($0)") }
    let driven = TrackedRunLoop(name: "stress driven")
    driver = driven.drive(on: DispatchQueue(label: "stress"))
    loops = threads.map(\.loop) + [driven]
    hoppers = loops.map(Hopper.init)
    sources = (0..<4).map { _ in TrackedRunLoopSource { _ in } }
    working = Atomic(Self.workers)
    doing = Guarded(Array(repeating: "nothing yet", count: Self.workers))
  }

  func complain(_ what: String) { complaints.withLock { $0.append(what) } }

  func start() {
    for worker in 0..<Self.workers {
      startThread { [self] in
        StressWorker(self, worker).work()
        working.subtract(1, ordering: .sequentiallyConsistent)
      }
    }
  }

  /// Whether `loop` may have ended.
  func mayEnd(_ loop: Int) -> Bool { endsEarly && loop == 0 }

  func endEarly() { if endsEarly { threads[0].stop() } }

  func hop(_ loop: Int) {
    hopsBegun.add(1, ordering: .sequentiallyConsistent)
    Task(executorPreference: tasks.loop) { [self] in
      if await !hoppers[loop].hop(), !mayEnd(loop) { complain("an actor of \(loops[loop]) ran elsewhere") }
      hopsEnded.add(1, ordering: .sequentiallyConsistent)
    }
  }

  var hopsAreOver: Bool { hopsBegun.load(ordering: .acquiring) == hopsEnded.load(ordering: .acquiring) }

  /// Ends all that is left, and lets the loops do what they have accepted.
  func tidyUp() {
    for timer in timers.withLock({ $0 }) { timer.timer.invalidate() }
    for source in sources { source.invalidate() }
    for observer in observers.withLock({ $0 }) { observer.invalidate() }
    for (index, loop) in loops.enumerated() {
      do {
        try loop.perform(waitUntilDone: true, modes: [.default]) {}
      } catch {
        if !mayEnd(index) { complain("\(loop) took no block: \(error)") }
      }
    }
    for block in blocks.withLock({ $0 }) {
      let runs = block.runs.load(ordering: .acquiring)
      if runs > 1 || (runs == 0 && !mayEnd(block.loop)) {
        complain("a block of \(loops[block.loop]) ran \(runs) times")
      }
    }
  }

  /// Delayed blocks are timers, too.
  var loopsAreEmpty: Bool { loops.allSatisfy { $0.inspection().timers.isEmpty } }

  func end() {
    timers.withLock { $0 = [] }
    observers.withLock { $0 = [] }
    driver.cancel()
    for thread in threads + [tasks] { thread.stop() }
  }

  var areLoopsOver: Bool { (threads + [tasks]).allSatisfy { $0.loop.isFinished } }
  var nothingIsHeld: Bool { held.load(ordering: .acquiring) == 0 }

  /// What hangs.
  var dump: String {
    let doing = doing.withLock { $0 }.enumerated().map { "worker \($0): \($1)" }
    let counts = [
      "hops \(hopsEnded.load(ordering: .relaxed)) of \(hopsBegun.load(ordering: .relaxed))",
      "objects that callbacks hold: \(held.load(ordering: .relaxed))",
      "blocks that did not run: \(blocks.withLock { $0 }.count { $0.runs.load(ordering: .relaxed) == 0 })",
    ]
    let hint = "scripts/check/stacks \(getpid()) shows where each thread stands"
    return (doing + counts + [hint]).joined(separator: "\n")
  }
}

/// A block that a loop has taken.
final class StressedBlock: Sendable {
  let loop: Int
  let runs = Atomic(0)

  init(_ loop: Int) { self.loop = loop }
}

/// What callbacks hold.
final class StressedObject: Sendable {
  private let stress: StressedThreads

  init(_ stress: StressedThreads) {
    self.stress = stress
    stress.held.add(1, ordering: .sequentiallyConsistent)
  }

  deinit { stress.held.subtract(1, ordering: .sequentiallyConsistent) }

  func touch() {}
}

/// A timer, and what is known of its fires.
final class StressedTimer: Sendable {
  let timer: TrackedTimer
  let facts: Facts
  /// The loop that it stays in, nil if it moves.
  let loop: Int?

  /// No fire may come before the first of all dates that it was ever given, more often than dates and ticks have passed, at
  /// the same time as another, or after its end.
  final class Facts: Sendable {
    private let stress: StressedThreads
    private let period: Int64?
    private let born = monotonic()
    let earliest: Atomic<Int64>
    /// How many dates were set, and fires asked for.
    let allowed = Atomic(1)
    let isFiredByHand = Atomic(false)
    private let isOver = Atomic(false)
    private let fires = Atomic(0)
    private let isFiring = Atomic(false)

    init(_ stress: StressedThreads, after interval: Int64, repeats: Bool) {
      self.stress = stress
      period = repeats ? max(interval, 100_000) : nil
      earliest = Atomic(born + interval)
    }

    /// It was invalidated, and no callback is under way. One that was in no loop may be fired by hand on any thread.
    func noteEnd() {
      if !isFiredByHand.load(ordering: .sequentiallyConsistent) {
        isOver.store(true, ordering: .sequentiallyConsistent)
      }
    }

    func fired() {
      let now = monotonic()
      if isFiring.exchange(true, ordering: .acquiringAndReleasing) { stress.complain("a timer fired beside itself") }
      if isOver.load(ordering: .acquiring) { stress.complain("a timer fired after its end") }
      let early = earliest.load(ordering: .acquiring) - now
      if early > 0, !isFiredByHand.load(ordering: .acquiring) { stress.complain("a timer fired \(early) ns early") }
      let count = fires.add(1, ordering: .sequentiallyConsistent).newValue
      let most = period.map { allowed.load(ordering: .acquiring) + Int((now - born) / $0) } ?? 1
      if count > most { stress.complain("a timer fired \(count) times for \(most) dates") }
      isFiring.store(false, ordering: .releasing)
    }
  }

  init(_ timer: TrackedTimer, _ facts: Facts, _ loop: Int?) {
    self.timer = timer
    self.facts = facts
    self.loop = loop
  }
}

/// An actor that lives on a loop.
actor Hopper {
  private nonisolated let loop: TrackedRunLoop

  init(_ loop: TrackedRunLoop) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Whether it is on the loop's thread.
  func hop() -> Bool { loop.isCurrentThread }
}

func monotonic() -> Int64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}

/// A value behind a lock that the thread sanitizer knows.
final class Guarded<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  init(_ value: Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}

/// Runs `body` on a thread of its own, for which nobody waits.
func startThread(_ body: @escaping @Sendable () -> Void) { pthread_detach(newThread(body)) }

/// A thread that runs `body`.
func newThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let error = pthread_create(
    &thread, nil,
    { @Sendable argument in
      if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  precondition(error == 0, "no thread: \(error)")
  return thread
}
