import UndeadHeap
import UndeadReport
import UndeadSystem

/// Heap files, with errors that name the file.
enum SavedHeap {
  static func keep(
    _ file: SessionFile, of snapshot: Snapshot, ending: Ending? = nil, at path: String
  ) throws(ToolError) {
    try file.withPath { written throws(ToolError) in try keep(written, of: snapshot, ending: ending, at: path) }
  }

  /// Keeps a heap file that the instrument just wrote, with the names of its code.
  ///
  /// - Parameters:
  ///   - snapshot: what was read from it.
  ///   - ending: of the program, if it has ended.
  ///   - resources: what the process had beside memory, if it was asked.
  /// - Throws: `ToolError` (failure) if there is no heap in it, or it could not be written; no half file is left.
  static func keep(
    _ file: String, of snapshot: Snapshot, ending: Ending? = nil, at path: String,
    resources: ProcessResources? = nil, symbolizer: Symbolizer = Symbolizer()
  ) throws(ToolError) {
    guard snapshot.metadata("heap") == "1" else {
      let reason = snapshot.notes.lazy.map({ snapshot.strings[$0] }).first {
        $0.hasPrefix("the heap could not be written")
      }
      throw .failure(
        "no heap was written to '\(path)': \(reason ?? "the library in the program does not know how to")")
    }
    var facts: [(key: String, value: String)] = []
    switch ending {
    case .exited(let status): facts.append(("exitStatus", "\(status)"))
    case .signalled(let signal): facts.append(("signal", "\(signal)"))
    case nil: break
    }
    do {
      try HeapFile.save(file, to: path, metadata: facts, resources: resources, using: symbolizer)
    } catch {
      throw .failure("\(error)")
    }
  }
}
