import Glibc
import UndeadAttach
import UndeadReport

/// What leaked in a process.
struct LiveCheck {
  private let pid: pid_t
  private let timeout: Double?
  private let first: ProcessSnapshot
  private let zombies: ZombieLogs

  /// - Parameter timeout: in seconds; nil for the usual.
  init(of pid: pid_t, for look: Look, timeout: Double?) throws(ToolError) {
    self.pid = pid
    self.timeout = timeout
    first = try ProcessSnapshot(of: pid, for: look, timeout: timeout)
    zombies =
      first.isOfCopy
      ? ZombieLogs(.process(LiveZombieLog(of: pid)), program: pid, symbolizer: first.symbolizer) : ZombieLogs()
  }

  var symbolizer: Symbolizer { first.symbolizer }

  /// Finds the names of a process's code, where its files are for the tool.
  static func symbolizer(of pid: pid_t) -> Symbolizer {
    let files = TargetFiles(of: pid)
    return Symbolizer(files: { files.path(of: $0) })
  }

  /// Shows what was found; returns the exit status of the tool.
  func show(_ pipeline: ReportPipeline, _ kept: KeptFiles, _ sink: OutputSink) throws(ToolError) -> Int32 {
    var snapshot = try SnapshotFile.load(first.path)
    if let heap = kept.heap { try SavedHeap.keep(first.path, of: snapshot, at: heap, symbolizer: symbolizer) }
    let notes = first.isOfCopy && snapshot.hasLeaks ? confirm(&snapshot) : []
    return try pipeline.emit(
      [snapshot], zombies: zombies, notes: notes + zombies.problems, isComplete: true, save: kept.save, to: sink,
      progress: Progress())
  }

  /// What has leaked is there in a second copy, too.
  private func confirm(_ snapshot: inout Snapshot) -> [String] {
    do throws(ToolError) {
      let second = try ProcessSnapshot(copyOf: pid, for: .leaks, timeout: timeout)
      let removed = snapshot.keepLeaks(confirmedBy: try SnapshotFile.load(second.path))
      return removed == 0 ? [] : ["left out: \(removed) objects that seemed leaked in the first of two checks only"]
    } catch {
      return ["these leaks were seen in one check only, as there was no second one: \(error.message)"]
    }
  }
}
