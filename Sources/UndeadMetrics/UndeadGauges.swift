import Metrics
import Undead
import UndeadHeapFile
import UndeadReport

#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import UndeadRunLoop
#endif

/// Gauges of what is in memory, for whatever the program's metrics go to.
///
/// Nothing is measured until ``run()`` is called, which measures until its task is cancelled:
///
/// ```swift
/// var configuration = UndeadGauges.Configuration()
/// configuration.types = ["App.Session", "App.*Cache"]
/// let gauges = UndeadGauges(configuration)
/// try await withThrowingTaskGroup { group in
///   group.addTask { try await gauges.run() }
///   group.addTask { try await server.run() }
///   try await group.next()
/// }
/// ```
///
/// `run()` is what ServiceLifecycle asks of a service: `extension UndeadGauges: @retroactive Service {}` makes it one.
///
/// | gauge | dimensions | value |
/// |---|---|---|
/// | `undead_recording` | | 1 while allocations are recorded, else 0, and the others are not measured |
/// | `undead_live_objects`, `undead_live_bytes` | `type` | live objects of each chosen type, and their bytes without what they refer to |
/// | `undead_leaks`, `undead_leaked_objects`, `undead_leaked_bytes` | | groups of leaks, objects and bytes of all |
/// | `undead_suspects` | | groups of suspects |
/// | `undead_loop_lateness_seconds` | `loop` | the lateness of the timer that was latest when it last fired |
public struct UndeadGauges: Sendable {
  /// What is measured, and how often.
  public struct Configuration: Sendable {
    /// Classes whose objects are counted: `App.Session`, or a pattern with `*`. Subclasses have names of their own.
    public var types: [String] = []
    /// From one count to the next. The threads stand still for a moment at each.
    public var every: Duration = .seconds(60)
    /// From one look for leaks to the next, which takes longer; nil for none.
    public var leaksEvery: Duration? = .seconds(600)
    /// At most so many types get a gauge each, those with the most objects; each is a series in what stores them.
    public var mostTypes = 50
    /// Also the lateness of the loops of `UndeadRunLoop`.
    public var runLoops = true
    /// What names of gauges begin with.
    public var prefix = "undead"

    public init() {}
  }

  private let configuration: Configuration
  private let factory: any MetricsFactory

  /// - Parameters:
  ///   - configuration: what is measured, and how often.
  ///   - factory: what makes the gauges; by default that of the program.
  public init(_ configuration: Configuration = Configuration(), factory: any MetricsFactory = MetricsSystem.factory) {
    self.configuration = configuration
    self.factory = factory
  }

  /// Measures until the task is cancelled, and then returns.
  public func run() async throws {
    var known = Known()
    var nextLeaks = ContinuousClock.now
    while !Task.isCancelled {
      let looksForLeaks = configuration.leaksEvery != nil && ContinuousClock.now >= nextLeaks
      await measure(leaks: looksForLeaks, &known)
      if looksForLeaks, let every = configuration.leaksEvery { nextLeaks = .now + every }
      do {
        try await Task.sleep(for: configuration.every)
      } catch {
        return
      }
    }
  }

  /// Gauges that have a value: one of which there is nothing any more is 0, not what it was.
  struct Known {
    var types: Set<String> = []
    var loops: Set<String> = []
  }

  func measure(leaks: Bool, _ known: inout Known) async {
    set("recording", LeakDetector.isActive ? 1 : 0)
    if configuration.runLoops { measureLoops(&known) }
    guard LeakDetector.isActive else { return }
    if !configuration.types.isEmpty { await measureTypes(&known) }
    if leaks { await measureLeaks() }
  }

  private func set(_ name: String, _ value: Double, _ dimensions: [(String, String)] = []) {
    Gauge(label: "\(configuration.prefix)_\(name)", dimensions: dimensions, factory: factory).record(value)
  }

  // MARK: Types

  private func measureTypes(_ known: inout Known) async {
    // A count that cannot be made now is made the next time.
    guard let entries = try? await OwnThread.run({ Result { try Census().entries } }).get() else { return }
    var amounts: [String: (objects: Int, bytes: Int)] = [:]
    for entry in entries {
      guard let type = entry.type else { continue }
      let name = String(reflecting: type)
      guard configuration.types.contains(where: { TypePattern.matches($0, name) }) else { continue }
      amounts[name, default: (0, 0)].objects += entry.objects
      amounts[name, default: (0, 0)].bytes += entry.bytes
    }
    // Names that are unambiguous are reported in any case.
    for name in configuration.types where !name.contains("*") && amounts[name] == nil { amounts[name] = (0, 0) }
    let worst = amounts.sorted { a, b in (b.value.objects, a.key) < (a.value.objects, b.key) }
    let shown = worst.prefix(configuration.mostTypes)
    for (name, amount) in shown {
      set("live_objects", Double(amount.objects), [("type", name)])
      set("live_bytes", Double(amount.bytes), [("type", name)])
    }
    let names = Set(shown.map(\.key))
    for name in known.types.subtracting(names) {
      let amount = amounts[name] ?? (0, 0)
      set("live_objects", Double(amount.objects), [("type", name)])
      set("live_bytes", Double(amount.bytes), [("type", name)])
    }
    known.types.formUnion(names.prefix(max(0, 4 * configuration.mostTypes - known.types.count)))
  }

  // MARK: Leaks

  private func measureLeaks() async {
    let found = await OwnThread.run {
      Result { LeakReport(analyzing: [try LeakDetector.snapshot()]).summary }
    }
    guard let summary = try? found.get() else { return }
    set("leaks", Double(summary.leaks))
    set("leaked_objects", Double(summary.leakedObjects))
    set("leaked_bytes", Double(summary.leakedBytes))
    set("suspects", Double(summary.suspects))
  }

  // MARK: Run loops

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    private func measureLoops(_ known: inout Known) {
      var lateness: [String: Double] = [:]
      for loop in TrackedRunLoop.inspect().loops {
        let worst = loop.timers.lazy.filter { $0.fires > 0 }.map(\.lastLateness).max() ?? 0
        lateness[loop.name] = max(lateness[loop.name] ?? 0, worst)
      }
      for (name, seconds) in lateness.sorted(by: { $0.key < $1.key }) {
        set("loop_lateness_seconds", seconds, [("loop", name)])
      }
      for name in known.loops where lateness[name] == nil { set("loop_lateness_seconds", 0, [("loop", name)]) }
      known.loops = Set(lateness.keys)
    }
  #else
    // There are none.
    private func measureLoops(_ known: inout Known) {}
  #endif
}

/// The name of a type, or a pattern with `*`.
enum TypePattern {
  static func matches(_ pattern: String, _ name: String) -> Bool {
    pattern.contains("*") ? HeapPattern(pattern).matches(name) : pattern == name
  }
}
