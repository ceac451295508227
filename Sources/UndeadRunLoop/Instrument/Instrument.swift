#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadInterface
import CUndeadRunLoop
import Glibc

/// The only place that knows whether the program is under the instrument, and what it asks of this module.
///
/// The program has an instrument if it links Undead or was started under the tool; this module links nothing of it.
enum Instrument {
  /// What it can do, nil in programs without one.
  static let functions: undead_instrument? = undead_find_instrument()?.pointee

  /// Whether the program is checked by it: a session, or `UNDEAD=1`, began before the first loop or timer was made. What is
  /// wrong with loops and timers is then collected for the report, whether or not the program asked for diagnostics.
  static let isWatching: Bool = {
    guard let functions else { return false }
    // Made now: a check must not wait for another thread that is making them.
    _ = LoopRegistry.shared
    ModeTable.prepare()
    PreciseTimer.prepare()
    _ = functions.add_facts_source({ facts, _ in if let facts { FactsSource.tell(facts) } }, nil)
    functions.set_run_loop_runner { nanoseconds in
      let loop = undead_loop_is_main_thread() ? TrackedRunLoop.current : TrackedRunLoop.existing
      return loop?.run(mode: .default, for: .nanoseconds(nanoseconds)) ?? .finished != .finished
    }
    // Test programs record in any case; their diagnostics are theirs to ask for.
    let isAsked = getenv("UNDEAD_SESSION") != nil || getenv("UNDEAD").map { String(cString: $0) } == "1"
    return isAsked && functions.is_active()
  }()

  /// Lets checks ask for loops and timers from now on.
  static func prepare() { _ = isWatching }

  /// What counts as late, starving and blocking in reports of the tool, from the environment.
  static let thresholds: RunLoopDiagnostics.Thresholds = {
    var thresholds = RunLoopDiagnostics.Thresholds()
    if let late = milliseconds("UNDEAD_LATE_FIRE") { thresholds.lateFire = late }
    if let starved = milliseconds("UNDEAD_MODE_STARVED") { thresholds.modeStarved = starved }
    if let blocked = milliseconds("UNDEAD_LOOP_BLOCKED") { thresholds.loopBlocked = blocked }
    if let forgotten = milliseconds("UNDEAD_NEVER_SCHEDULED") { thresholds.neverScheduled = forgotten }
    return thresholds
  }()

  private static func milliseconds(_ variable: String) -> Duration? {
    guard let text = getenv(variable), let number = Int64(String(cString: text)), number >= 0 else { return nil }
    return .milliseconds(min(number, 1_000_000_000))
  }

  /// Enters a dead target of a timer into the log of zombies. Returns whether there is one.
  static func logZombie(_ target: TimerTarget) -> Bool {
    guard let functions, functions.zombies_are_active() else { return false }
    _ = functions.zombie_report(
      UNDEAD_INSTRUMENT_TIMER_TARGET, UnsafeRawPointer(bitPattern: target.address), target.typeName, 0)
    return true
  }

  /// The type of an object that is gone if all that a block captures are weak references to such objects.
  static func ownerThatIsGone(of block: @escaping TrackedTimer.Callback) -> String? {
    struct Closure {
      var block: TrackedTimer.Callback
    }
    // A closure is its code and its context. In a structure of its own it is stored as it is, without a thunk.
    return withUnsafeBytes(of: Closure(block: block)) { ownerThatIsGone(ofClosure: $0) }
  }

  /// The same of a block without an argument.
  static func ownerThatIsGone(of block: @escaping @Sendable () -> Void) -> String? {
    struct Closure {
      var block: @Sendable () -> Void
    }
    return withUnsafeBytes(of: Closure(block: block)) { ownerThatIsGone(ofClosure: $0) }
  }

  private static func ownerThatIsGone(ofClosure bytes: UnsafeRawBufferPointer) -> String? {
    let context = bytes.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer?.self)
    guard let context, let functions else { return nil }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { type in
      guard functions.closure_knows_only_dead(context, type.baseAddress, type.count) else { return nil }
      let name = type.baseAddress.map { String(cString: $0) } ?? ""
      return name.isEmpty ? "an object" : name
    }
  }

  private static let depth = 128

  /// Where the memory at an address was allocated, which also a dead object has as long as there are unowned references.
  static func allocation(at address: UInt) -> [UInt] {
    guard let functions else { return [] }
    let address = UnsafeRawPointer(bitPattern: address)
    return [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(functions.allocation_backtrace(address, buffer.baseAddress, UInt32(depth)))
    }
  }

  /// Where another thread is, empty if the instrument does not know.
  static func backtrace(of thread: Int32) -> [UInt] {
    guard let functions else { return [] }
    return [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(functions.thread_backtrace(thread, buffer.baseAddress, UInt32(depth)))
    }
  }

  /// Where the caller is, empty if the instrument records no backtraces.
  static func backtrace() -> [UInt] {
    guard let functions else { return [] }
    return [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(functions.caller_backtrace(buffer.baseAddress, UInt32(depth)))
    }
  }
}
#endif
