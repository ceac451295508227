import UndeadHeap
import UndeadReport
import UndeadSystem

/// What grows in a process between two checks.
struct LiveGrowth {
  let pid: pid_t
  let duration: WatchTime
  let options: GrowthOptions
  /// Where the heap of the last moment is kept.
  let heap: String?
  /// Seconds for each check; nil for the usual.
  let timeout: Double?

  /// Takes both checks and shows the difference; returns the exit status of the tool.
  func show(_ pipeline: ReportPipeline, _ sink: OutputSink) throws(ToolError) -> Int32 {
    // A user who stops it wants to know what it has seen.
    Interruptions.hold()
    let first = try HeapSource(process: pid, timeout: timeout)
    var pipeline = pipeline
    pipeline.symbolizer = first.symbolizer
    let before = SavedState.SavedGraph(heap: try first.heap(), file: "process \(pid), first check")
    let progress = Progress()
    let start = SystemClock.now()
    let end = start + UInt64(duration.seconds * 1e9)
    _ = Interruptions.wait(until: end, while: ProcessFacts.isRunning(pid)) {
      let passed = Double((SystemClock.now() - start) / 1_000_000_000)
      progress.show(
        "waiting for \(Quantity.duration(passed)) of \(Quantity.duration(duration.seconds)); Ctrl-C checks at once")
    }
    progress.clear()
    guard ProcessFacts.isRunning(pid) else {
      throw .failure("process \(pid) ended before the second check; give a shorter --for")
    }
    let second = try HeapSource(process: pid, timeout: timeout)
    if let heap { try second.save(to: heap) }
    let after = SavedState.SavedGraph(heap: try second.heap(), file: "process \(pid), second check")
    return try pipeline.emitGrowth(
      from: before, to: after, rules: options.failOnGrowth, sink: sink, progress: Progress())
  }
}
