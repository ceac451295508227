import UndeadFormats
import UndeadHeap
import UndeadHeapReport
import UndeadPage
import UndeadReport

extension ReportPipeline {
  /// Shows what grew between two heaps, and what changed in their leaks.
  ///
  /// - Parameter rules: what may not grow.
  func emitGrowth(
    from old: SavedState.SavedGraph, to new: SavedState.SavedGraph, rules: [GrowthRule], sink: OutputSink,
    progress: Progress
  ) throws(ToolError) -> Int32 {
    switch display.format {
    case .text, .json, .html, .sarif: break
    default:
      throw .misuse("undead diff of heap files writes text, json, html or sarif; choose one of them with --format")
    }
    let leaks = ReportDiff(
      from: report(.snapshot(old.heap.file.snapshot, file: old.file), progress),
      to: report(.snapshot(new.heap.file.snapshot, file: new.file), progress), minCount: options.minCount)
    progress.show("comparing the heaps")
    var difference = HeapDiff(from: old.heap, to: new.heap, tool: Self.tool)
    difference.leaks = leaks
    progress.clear()
    let broken: GrowthRule?
    do {
      broken = try difference.broken(of: rules)
    } catch {
      throw .misuse("--fail-on-growth: \(error)")
    }
    switch display.format {
    case .text: try sink.write(HeapDiffText.render(difference, options: textOptions(sink)).utf8)
    case .sarif: try sink.writeJSON { try HeapDiffSARIF.render(difference, options: repositoryOptions) }
    case .html:
      try sink.write(GrowthPage.render(difference, tool: Self.tool, options: textOptions(sink)).utf8)
    default: try sink.writeJSON { try JSONRenderer.encode(difference) }
    }
    if let broken {
      Message.say("--fail-on-growth \(broken.text): it grew")
      return verdict.exitCode
    }
    if leaks.fails(on: verdict.failOn) { return verdict.exitCode }
    return leaks.complete || !leaks.new.isEmpty || !leaks.grown.isEmpty ? 0 : ExitStatus.toolFailure
  }
}
