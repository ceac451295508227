import Glibc
import UndeadReport
import UndeadSystem

/// Shows the uses of dead objects in a process that samples them, while it runs and at the end.
struct LiveZombies {
  let pid: pid_t
  let findings: FindingOptions
  /// True if each use gets a line when it is found.
  let saysLines: Bool

  /// Waits for so long, until the process ends or the user ends it, and reports; returns the exit status of the tool.
  ///
  /// - Parameter duration: nil for no limit.
  func show(for duration: WatchTime?, _ pipeline: ReportPipeline, _ sink: OutputSink) throws(ToolError) -> Int32 {
    let log = LiveZombieLog(of: pid)
    log.read()
    let process = LeakReport.Process(path: log.executable, pid: Int(pid))
    let live = LiveFindings(
      findings, saysLines: saysLines, options: pipeline.options, process: process, logs: .process(log))
    defer { live?.finish() }
    var pipeline = pipeline
    pipeline.onReport = { live?.end(with: $0, failOn: pipeline.verdict.failOn) }
    let end = duration.map { SystemClock.now() + UInt64($0.seconds * 1e9) } ?? .max
    _ = Interruptions.wait(until: end, while: ProcessFacts.isRunning(pid)) {
      // Of a process that ends, what was read last is all that there is.
      log.read()
      live?.look()
    }
    live?.programEnded()
    let zombies = ZombieLogs(.process(log), program: pid, symbolizer: LiveCheck.symbolizer(of: pid))
    return try pipeline.emitSampled(process, zombies: zombies, save: nil, to: sink)
  }
}
