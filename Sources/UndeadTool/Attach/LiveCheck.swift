import Glibc
import UndeadReport

/// What leaked in a process: asked of the instrument in it, or found in a copy of its memory.
struct LiveCheck {
  private let pid: pid_t
  private let timeout: Double?
  private let answer: Answer

  private enum Answer {
    /// What the instrument in the process wrote.
    case asked(SessionFile)
    case look(LiveLook)
  }

  /// - Parameter timeout: in seconds; nil for the usual.
  /// - Throws: `ToolError` that says why it cannot be checked.
  init(of pid: pid_t, wantsHeap: Bool, timeout: Double?) throws(ToolError) {
    self.pid = pid
    self.timeout = timeout
    guard try LiveLook.isNeeded(for: pid) else {
      answer = .asked(
        try SnapshotRequest(of: pid, kind: wantsHeap ? .heap : .snapshot).wait(
          timeout: timeout ?? AskedProgram.defaultTimeout, progress: Progress()))
      return
    }
    answer = .look(try LiveLook(at: pid, wantsHeap: wantsHeap, timeout: timeout ?? LiveLook.defaultTimeout))
  }

  /// Finds the names of the program's code.
  var symbolizer: Symbolizer {
    switch answer {
    case .asked: Symbolizer()
    case .look(let look): look.symbolizer
    }
  }

  /// Shows what was found; returns the exit status of the tool.
  func show(_ pipeline: ReportPipeline, _ kept: KeptFiles, _ sink: OutputSink) throws(ToolError) -> Int32 {
    var notes: [String] = []
    let snapshot: Snapshot
    switch answer {
    case .asked(let file):
      defer { file.remove() }
      snapshot = try SnapshotFile.load(file)
      if let heap = kept.heap { try SavedHeap.keep(file, of: snapshot, at: heap) }
    case .look(let look):
      var seen = try SnapshotFile.load(look.path)
      if let heap = kept.heap { try SavedHeap.keep(look.path, of: seen, at: heap, symbolizer: look.symbolizer) }
      if seen.hasLeaks { notes = confirm(&seen) }
      snapshot = seen
    }
    return try pipeline.emit(
      [snapshot], notes: notes, isComplete: true, save: kept.save, to: sink, progress: Progress())
  }

  /// What has leaked is there in a second look, too.
  private func confirm(_ snapshot: inout Snapshot) -> [String] {
    do throws(ToolError) {
      let second = try LiveLook(at: pid, wantsHeap: false, timeout: timeout ?? LiveLook.defaultTimeout)
      let removed = snapshot.keepLeaks(confirmedBy: try SnapshotFile.load(second.path))
      return removed == 0 ? [] : ["left out: \(removed) objects that seemed leaked in the first of two checks only"]
    } catch {
      return ["these leaks were seen in one check only, as there was no second one: \(error.message)"]
    }
  }
}
