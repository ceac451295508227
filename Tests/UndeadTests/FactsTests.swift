import CUndead
import Glibc
import Testing
import Undead
import UndeadReport

/// What a source reports to a check, and what becomes of it in the report of the same process.
@Suite(.timeLimit(.minutes(20))) struct FactsTests {
  @Test func abandonedObjectIsToldWithItsPath() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      Told.cache.entries["a"] = keptOwner()
      undead_add_facts_source(
        { facts, _ in
          Told.watch(Told.cache.entries["a"], facts)
          undead_facts_add_note(facts, "a note")
        }, nil)
      let report = try LeakDetector.checkForLeaks()
      let leak = try #require(report.leaks.first { $0.kind == .abandoned })
      #expect(leak.objects.map { $0.type.hasSuffix("KeptOwner") } == [true])
      #expect(leak.scope?.name == "Screen")
      #expect(leak.scope?.backtrace.frames.isEmpty == false)
      #expect(leak.retainPath?.dropLast().last?.field == "entries[value]")
      #expect(leak.retainPath?.first?.root?.kind == "global")
      #expect(leak.allocation.frames.contains { $0.symbol.contains("keptOwner") })
      #expect(report.summary.notes.contains("a note"))
    }
  }

  @Test func objectThatNothingReachesIsAnOrdinaryLeak() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      for _ in 0..<50 { Told.makeCycle() }
      undead_add_facts_source({ facts, _ in Told.watchAll(facts) }, nil)
      let report = try LeakDetector.checkForLeaks()
      // Recording began late: free memory may still refer to a few.
      let leak = try #require(report.leaks.first { $0.kind == .retainCycle })
      #expect(leak.scope?.name == "Screen")
      #expect(leak.count >= 40)
    }
  }

  @Test func objectThatDiesBeforeTheScanIsDropped() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      undead_add_facts_source(
        { facts, _ in
          for _ in 0..<50 { Told.watch(keptOwner(), facts) }
        }, nil)
      for _ in 0..<5 {
        let snapshot = try LeakDetector.snapshot()
        #expect(snapshot.watched.isEmpty)
      }
    }
  }

  @Test func timerOfARunLoopIsARootAndASuspect() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      for _ in 0..<20 { Told.schedule() }
      undead_add_facts_source({ facts, _ in Told.tellTimers(facts) }, nil)
      let suspect = try #require(try LeakDetector.checkForLeaks().suspects.first { $0.kind == .timer })
      let first = try #require(suspect.retainPath.first)
      #expect(first.root == PathStep.Root(kind: "runLoop", name: "main"))
      #expect(first.mode == "default")
      #expect(first.name == "poll")
      #expect(first.field == "target")
      // The same object, watched: certain now.
      undead_add_facts_source({ facts, _ in Told.watchAll(facts) }, nil)
      let report = try LeakDetector.checkForLeaks()
      #expect(report.suspects.isEmpty)
      #expect(report.leaks.map(\.kind) == [.abandoned])
      #expect(report.leaks.first?.count == 20)
      #expect(report.leaks.first?.retainPath?.first?.name == "poll")
    }
  }

  @Test func diagnosticsAndRunLoopsAreCarried() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      undead_add_facts_source(
        { facts, _ in
          undead_facts_set_run_loops(facts, #"{"loops":[]}"#)
          Told.tellDiagnostic(facts)
        }, nil)
      let report = try LeakDetector.checkForLeaks()
      #expect(report.runLoops == .object(["loops": .array([])]))
      #expect(report.diagnostics.map(\.kind) == ["lateFire"])
      #expect(report.diagnostics.first?.details == ["timer": "poll"])
      #expect(report.diagnostics.first?.backtrace?.frames.isEmpty == false)
      #expect(report.diagnostics.first?.backtraces?.map(\.role) == ["creation"])
    }
  }

  @Test func sourceThatCrashesCostsOnlyItsFacts() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      for _ in 0..<50 { Told.makeCycle() }
      undead_add_facts_source({ _, _ in _ = UnsafeMutablePointer<Int>(bitPattern: 64)?.pointee.nonzeroBitCount }, nil)
      let first = try LeakDetector.checkForLeaks()
      #expect(!first.leaks.isEmpty)
      let second = try LeakDetector.checkForLeaks()
      for report in [first, second] {
        #expect(report.summary.notes.contains { $0.contains("asking them crashed with signal 11") })
      }
    }
  }

  @Test func whatASourceLeavesBehindIsNoLeak() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      undead_add_facts_source({ _, _ in Told.cache.entries["\(Told.cache.entries.count)"] = keptOwner() }, nil)
      for _ in 0..<5 {
        let report = try LeakDetector.checkForLeaks()
        #expect(report.leaks.isEmpty)
      }
      #expect(Told.cache.entries.count == 5)
    }
  }
}

final class KeptOwner {
  var cycle: KeptOwner?
  var timer: ToldTimer?
}

final class OwnerCache {
  var entries: [String: KeptOwner] = [:]
}

final class ToldLoop {
  var timers: [ToldTimer] = []
}

final class ToldTimer {
  let target: KeptOwner
  init(_ target: KeptOwner) { self.target = target }
}

@inline(never) @_optimize(none)
private func keptOwner() -> KeptOwner { KeptOwner() }

/// The state of a process that reports; one thread at a time uses it, as the check and its source take turns.
private enum Told {
  nonisolated(unsafe) static let cache = OwnerCache()
  nonisolated(unsafe) static let loop = ToldLoop()
  nonisolated(unsafe) static var weakOwners: [WeakOwner] = []

  struct WeakOwner {
    weak var owner: KeptOwner?
  }

  @inline(never) @_optimize(none)
  static func makeCycle() {
    let owner = keptOwner()
    owner.cycle = owner
    weakOwners.append(WeakOwner(owner: owner))
  }

  @inline(never) @_optimize(none)
  static func schedule() {
    let owner = keptOwner()
    let timer = ToldTimer(owner)
    owner.timer = timer
    loop.timers.append(timer)
    weakOwners.append(WeakOwner(owner: owner))
  }

  static func watch(_ owner: KeptOwner?, _ facts: OpaquePointer?) {
    guard let owner else { return }
    withFrames { frames, count in
      "Screen".withCString { scope in
        var watched = undead_watched_object(
          object: Unmanaged.passUnretained(owner).toOpaque(), scope: scope, frames: frames, frame_count: count)
        undead_facts_add_watched(facts, &watched)
      }
    }
  }

  static func watchAll(_ facts: OpaquePointer?) {
    for weak in weakOwners { watch(weak.owner, facts) }
  }

  static func tellTimers(_ facts: OpaquePointer?) {
    for timer in loop.timers {
      withTexts("main", "default", "timer", "poll") { texts in
        var item = undead_run_loop_item(
          object: Unmanaged.passUnretained(timer).toOpaque(), loop: Unmanaged.passUnretained(loop).toOpaque(),
          loop_name: texts[0], modes: texts[1], kind: texts[2], name: texts[3])
        undead_facts_add_run_loop_item(facts, &item)
      }
    }
  }

  static func tellDiagnostic(_ facts: OpaquePointer?) {
    withTexts("lateFire", "late", #"{"timer":"poll"}"#, "creation") { texts in
      withFrames { frames, count in
        withUnsafePointer(to: undead_trace(role: texts[3], frames: frames, frame_count: count)) { trace in
          var diagnostic = undead_diagnostic(
            kind: texts[0], message: texts[1], details: texts[2], frames: frames, frame_count: count, traces: trace,
            trace_count: 1)
          undead_facts_add_diagnostic(facts, &diagnostic)
        }
      }
    }
  }

  private static func withFrames(_ body: (UnsafePointer<UInt>?, UInt32) -> Void) {
    var frames = [UInt](repeating: 0, count: 64)
    let count = undead_caller_backtrace(&frames, UInt32(frames.count))
    frames.withUnsafeBufferPointer { body($0.baseAddress, UInt32(count)) }
  }

  private static func withTexts(_ texts: String..., body: ([UnsafePointer<CChar>]) -> Void) {
    let copies = texts.map { strdup($0)! }
    defer { for copy in copies { free(copy) } }
    body(copies.map { UnsafePointer($0) })
  }
}
