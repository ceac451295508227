#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Glibc
import Synchronization

/// The engine behind `RunLoopDiagnostics`. While it is off, the hot paths pay for one load.
///
/// It is on if the program asked for it, and under the instrument, which wants diagnostics for its report. Only what the
/// program asked for is reported to the program.
enum Diagnostics {
  /// What is remembered of a timer until it is scheduled, or until it dies. It has no unused bytes: what is left in them
  /// looks like references to a scan of memory.
  struct Birth: Sendable {
    var createdAt: Int64
    /// Empty under the instrument, which knows where objects were allocated.
    var creation: [UInt]
    var scheduling: [UInt] = []
    var name = ""
    /// Not 0 when it is known not to be forgotten: it was scheduled or invalidated, or it was reported.
    var isSettled = 0
  }

  struct State {
    var isWanted = false
    var handler: RunLoopDiagnostics.Handler?
    var collected: [RunLoopDiagnostic] = []
    var births: [HiddenReference<TrackedTimer>: Birth] = [:]
    var deadTargetReported: Set<HiddenReference<TrackedTimer>> = []
    /// For the report of the instrument; it outlives what the program asked for.
    var log = DiagnosticLog()
  }

  /// What counts as late and so on, in nanoseconds; read at every fire.
  struct Limits: ~Copyable {
    let lateFire = Atomic<Int64>(0)
    let modeStarved = Atomic<Int64>(0)
    let loopBlocked = Atomic<Int64>(0)
    let neverScheduled = Atomic<Int64>(0)

    func set(_ thresholds: RunLoopDiagnostics.Thresholds) {
      lateFire.store(Instants.nanoseconds(thresholds.lateFire), ordering: .relaxed)
      modeStarved.store(Instants.nanoseconds(thresholds.modeStarved), ordering: .relaxed)
      loopBlocked.store(Instants.nanoseconds(thresholds.loopBlocked), ordering: .relaxed)
      neverScheduled.store(Instants.nanoseconds(thresholds.neverScheduled), ordering: .relaxed)
    }
  }

  private enum Mode {
    static let undecided: UInt8 = 0
    static let off: UInt8 = 1
    static let on: UInt8 = 2
  }

  private static let keptAtMost = 1000
  private static let mode = Atomic(Mode.undecided)
  static let limits = Limits()
  static let state = Locked(State())

  @inline(__always)
  static var isOn: Bool {
    let mode = mode.load(ordering: .relaxed)
    return mode != Mode.off && (mode == Mode.on || decide())
  }

  /// Whether the program asked for them.
  static var isWanted: Bool { state.withLock { $0.isWanted } }
  static var collected: [RunLoopDiagnostic] { state.withLock { $0.collected } }

  private static let exitCheck: Void = { atexit { if Diagnostics.isOn { Diagnostics.check(atOnce: true) } } }()

  @inline(never)
  private static func decide() -> Bool {
    let isWatched = Instrument.isWatching
    if isWatched {
      limits.set(Instrument.thresholds)
    }
    let wanted = isWatched ? Mode.on : Mode.off
    let change = mode.compareExchange(expected: Mode.undecided, desired: wanted, ordering: .releasing)
    return change.original == Mode.on || (change.exchanged && isWatched)
  }

  static func enable(_ thresholds: RunLoopDiagnostics.Thresholds, _ handler: RunLoopDiagnostics.Handler?) {
    Instrument.prepare()
    limits.set(thresholds)
    state.withLock { state in
      state.isWanted = true
      state.handler = handler
    }
    _ = exitCheck
    mode.store(Mode.on, ordering: .releasing)
    Watchdog.shared.start()
  }

  static func disable() {
    if Instrument.isWatching { limits.set(Instrument.thresholds) } else { mode.store(Mode.off, ordering: .releasing) }
    let old = state.withLock { state -> State in
      let old = state
      state = State()
      state.log = old.log
      if Instrument.isWatching {
        state.births = old.births
        state.deadTargetReported = old.deadTargetReported
      }
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// - Parameters:
  ///   - loop: the name of the loop that it is about.
  ///   - weight: of several that say the same, the report shows the one with the greatest.
  ///   - isLogged: false if the report has it in another way.
  static func report(
    _ kind: RunLoopDiagnostic.Kind, _ message: String, loop: String? = nil, timer: TrackedTimer? = nil,
    details: [String: String] = [:], backtraces: [RunLoopDiagnostic.Trace] = [], weight: Int64 = 0,
    isLogged: Bool = true
  ) {
    guard isOn else { return }
    var details = details
    if let loop { details["loop"] = loop }
    if let timer, !timer.name.isEmpty { details["timer"] = timer.name }
    let diagnostic = RunLoopDiagnostic(kind: kind, message: message, details: details, backtraces: backtraces)
    let isWatched = Instrument.isWatching
    let handler = state.withLock { state -> RunLoopDiagnostics.Handler? in
      if isWatched, isLogged { state.log.add(diagnostic, weight: weight) }
      guard state.isWanted else { return nil }
      if state.collected.count == keptAtMost {
        state.collected.removeFirst()
      }
      state.collected.append(diagnostic)
      return state.handler
    }
    handler?(diagnostic)
  }

  // MARK: Helpers

  static func backtrace() -> [UInt] {
    let recorded = Instrument.backtrace()
    if !recorded.isEmpty { return recorded }
    let depth = 64
    return [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(undead_loop_backtrace(buffer.baseAddress, Int32(depth)))
    }
  }

  static func typeName(of object: AnyObject) -> String {
    if let proxy = object as? any TargetNaming { return proxy.targetTypeName }
    return typeName(type(of: object))
  }

  static func typeName(_ type: Any.Type) -> String { withoutAddresses(String(reflecting: type)) }

  /// Names of private types have an address in them: "App.(unknown context at $5604).Owner".
  private static func withoutAddresses(_ name: String) -> String {
    let marker = "(unknown context at $"
    guard name.contains(marker) else { return name }
    var rest = name[...]
    var result = ""
    while let start = rest.firstRange(of: marker) {
      result += rest[..<start.lowerBound]
      rest = rest[start.upperBound...].drop { $0 != ")" }.dropFirst()
      if rest.first == "." { rest = rest.dropFirst() }
    }
    return result + rest
  }

  static func milliseconds(_ nanoseconds: Int64) -> String {
    "\(nanoseconds / 100_000 / 10).\(nanoseconds / 100_000 % 10) ms"
  }

  static func hex(_ address: UInt) -> String { "0x" + String(address, radix: 16) }
}

/// A stand-in that reports call by the name of what it stands for.
protocol TargetNaming: AnyObject {
  var targetTypeName: String { get }
}
#endif
