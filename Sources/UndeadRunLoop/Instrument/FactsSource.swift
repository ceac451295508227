#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadInterface
import CUndeadRunLoop
import FoundationEssentials

/// Answers a check of the instrument: what loops hold, what they are doing, what went wrong.
///
/// It runs on a thread of the check while the program goes on. It waits for a lock only for a moment, because in a forked
/// process the holder may not exist any more; and it never gives up what may be the last reference to an object of the
/// program while it holds one. It never holds a loop: theirs could be the last reference, and a loop ends on its own thread.
struct FactsSource {
  /// Nanoseconds that a lock may be held by others.
  private static let patience: Int64 = 50_000_000
  /// Timers, sources and the like that the instrument gets, and timers that the report lists.
  private static let itemLimit = 50_000
  private static let describedLimit = 1000

  private let facts: OpaquePointer
  private let instrument: undead_instrument
  private var itemsLeft = Self.itemLimit
  private var descriptionsLeft = Self.describedLimit
  private var loops: [RunLoopInspection.Loop] = []
  private var untold = 0
  private var busy: [String] = []
  /// What weak references gave; released when no lock is held.
  private var borrowed: [Any] = []

  private init(_ facts: OpaquePointer, _ instrument: undead_instrument) {
    self.facts = facts
    self.instrument = instrument
  }

  static func tell(_ facts: OpaquePointer) {
    guard let instrument = Instrument.functions else { return }
    if instrument.facts_are_last(), Diagnostics.isOn { Diagnostics.check(atOnce: true) }
    var source = FactsSource(facts, instrument)
    source.tellLoops()
    source.tellTasks()
    source.tellDiagnostics()
    source.tellGaps()
  }

  // MARK: Loops

  private mutating func tellLoops() {
    let known = LoopRegistry.shared.known(within: Self.patience)
    if known == nil { busy.append("the list of run loops") }
    for loop in known ?? [] { tell(loop) }
    guard !loops.isEmpty else { return }
    guard let json = try? RunLoopInspection(loops: loops).json() else { return }
    instrument.set_run_loops(facts, json)
  }

  private mutating func tell(_ loop: KnownLoop) {
    let now = loop.identity.clock.now
    var source = self
    let seen = loop.core.withLock(within: Self.patience) { () -> (RunLoopInspection.Loop, [RunLoopInspection.Timer])? in
      guard loop.isAlive else { return nil }
      var timers: [RunLoopInspection.Timer] = []
      source.tellItems(of: loop) { source, timer in
        timers.append(.init(timer, of: loop.core, now: now, &source.borrowed))
      }
      return (loop.core.inspectionWithoutTimers(), timers)
    }
    self = source
    guard let seen else {
      busy.append("run loop \"\(loop.identity.name)\"")
      return
    }
    guard let (inspection, timers) = seen else { return }
    let owner = loop.identity.owner
    if let owner { borrowed.append(owner) }
    loops.append(inspection.completed(by: loop.identity, owner: owner, timers: timers))
  }

  /// The caller holds the loop's lock.
  private mutating func tellItems(
    of loop: KnownLoop, describe: (inout FactsSource, TrackedTimer) -> Void
  ) {
    let state = loop.core.state
    let place = Place(loop)
    // First those that a report would want to name.
    for isWorthNaming in [true, false] {
      state.pointee.timers.visit { timer in
        guard timer.isWorthNaming == isWorthNaming else { return true }
        tell(timer, in: place, modes: state.pointee.timers.modes(of: timer))
        if descriptionsLeft > 0 {
          descriptionsLeft -= 1
          describe(&self, timer)
        }
        return true
      }
    }
    for record in state.pointee.sources.all {
      tell(record.source, kind: "source", name: record.source.reportName, in: place, modes: record.modes)
    }
    for record in state.pointee.observers.all {
      tell(record.observer, kind: "observer", name: "", in: place, modes: record.modes)
    }
  }

  private mutating func tell(_ timer: TrackedTimer, in place: Place, modes: [Int32]) {
    if let link = timer.extras.load()?.displayLink {
      link._withUnsafeGuaranteedRef { tell($0, kind: "display link", name: timer.name, in: place, modes: modes) }
      tell(timer, kind: "display link", name: timer.name, in: place, modes: modes)
    } else if timer.flags.contains(.performer), let target = timer.describedTarget {
      tell(timer, kind: "delayed perform", name: target.selector, in: place, modes: modes)
    } else {
      tell(timer, kind: "timer", name: timer.name, in: place, modes: modes)
    }
  }

  /// Where items are.
  private struct Place {
    var name: String
    var loop: UnsafeRawPointer?

    init(_ loop: KnownLoop) {
      name = loop.identity.name
      self.loop = UnsafeRawPointer(bitPattern: loop.loop.address)
    }

    init(queue: String) { name = "dispatch queue \"\(queue)\"" }
  }

  private mutating func tell(_ object: AnyObject, kind: String, name: String, in place: Place, modes: [Int32]) {
    guard itemsLeft > 0 else {
      untold += 1
      return
    }
    itemsLeft -= 1
    let isCommon = modes.contains(ModeTable.commonMode)
    let modes = isCommon ? "common" : modes.map(ModeTable.name).joined(separator: ", ")
    place.name.withCString { loopName in
      modes.withCString { modes in
        kind.withCString { kind in
          name.withCString { name in
            var item = undead_run_loop_item(
              object: Unmanaged.passUnretained(object).toOpaque(), loop: place.loop, loop_name: loopName, modes: modes,
              kind: kind, name: name)
            instrument.add_run_loop_item(facts, &item)
          }
        }
      }
    }
  }

  private mutating func tellTasks() {
    var source = self
    let told: Void? = PreciseTimer.withTasks(within: Self.patience) { tasks in
      for (id, timer) in tasks {
        source.tell(
          timer, kind: "precise timer", name: String(id.number), in: Place(queue: timer.target.label), modes: [])
      }
    }
    self = source
    if told == nil { busy.append("the list of precise timers") }
  }

  // MARK: What went wrong

  private mutating func tellDiagnostics() {
    Diagnostics.reportForgottenTimers(atOnce: false, patience: Self.patience)
    for loop in LoopRegistry.shared.known(within: Self.patience) ?? [] {
      IdleLoops.look(at: loop, patience: Self.patience)
    }
    guard let log = Diagnostics.state.withLock(within: Self.patience, { $0.log }) else {
      busy.append("the diagnostics of run loops")
      return
    }
    for entry in log.entries { tell(entry) }
    if log.dropped > 0 { note("\(log.dropped) further diagnostics of run loops are left out") }
  }

  private func tell(_ entry: DiagnosticLog.Entry) {
    var details = entry.diagnostic.details
    if entry.count > 1 { details["count"] = "\(entry.count)" }
    let traces = entry.diagnostic.backtraces
    let main = traces.lastIndex { ["access", "culprit", "invalidation"].contains($0.role) } ?? 0
    withTraces(traces) { traces in
      entry.diagnostic.kind.rawValue.withCString { kind in
        entry.diagnostic.message.withCString { message in
          Self.json(details).withCString { details in
            var others = traces
            let first = others.isEmpty ? undead_trace() : others.remove(at: main)
            others.withUnsafeBufferPointer { others in
              var diagnostic = undead_diagnostic(
                kind: kind, message: message, details: details, frames: first.frames, frame_count: first.frame_count,
                traces: others.baseAddress, trace_count: UInt32(others.count))
              instrument.add_diagnostic(facts, &diagnostic)
            }
          }
        }
      }
    }
  }

  /// Calls `body` with the traces as C has them.
  private func withTraces(
    _ traces: [RunLoopDiagnostic.Trace], _ made: [undead_trace] = [], _ body: ([undead_trace]) -> Void
  ) {
    guard let next = traces.first else { return body(made) }
    next.role.withCString { role in
      next.addresses.withUnsafeBufferPointer { frames in
        let trace = undead_trace(role: role, frames: frames.baseAddress, frame_count: UInt32(frames.count))
        withTraces(Array(traces.dropFirst()), made + [trace], body)
      }
    }
  }

  private static func json(_ details: [String: String]) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // Strings can always be encoded.
    return (try? encoder.encode(details)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  private func tellGaps() {
    if untold > 0 { note("\(untold) timers or sources of run loops are not known by name: there are too many") }
    if !busy.isEmpty { note("could not look at \(busy.joined(separator: ", ")): another thread holds its lock") }
  }

  private func note(_ text: String) { instrument.add_note(facts, text) }
}

extension TrackedTimer {
  /// Whether a report would want to name this timer rather than others. The caller holds the loop's lock.
  fileprivate var isWorthNaming: Bool {
    if !(extras.load()?.name ?? "").isEmpty { return true }
    return describedTarget?.holding == .strong
  }
}

extension TrackedRunLoopSource {
  fileprivate var reportName: String {
    switch kind {
    case .custom: ""
    case .descriptor(let descriptor, _, _): "descriptor \(descriptor)"
    case .signal(let signal, _): "signal \(signal)"
    }
  }
}
#endif
