import UndeadHeap
import UndeadReport

/// What an earlier run left in a file: a heap, or a report of findings alone.
enum SavedState {
  case heap(SavedGraph)
  case findings(SavedReport)

  /// The heap of a file.
  struct SavedGraph {
    var heap: LoadedHeap
    var file: String
  }

  /// Reads a file of any kind, or looks into a core file.
  init(file path: String, core options: CoreOptions) throws(ToolError) {
    if SavedCore.claims(path) {
      let core = try SavedCore(path, for: .heap, options)
      // The mapping outlives the file in memory.
      do throws(SnapshotError) {
        self = .heap(SavedGraph(heap: try LoadedHeap(try HeapFile(path: core.path)), file: path))
        return
      } catch {
        throw .failure("the heap of the core file '\(path)' cannot be read: \(error)")
      }
    }
    // What can be read only once, such as a pipe, is not asked.
    guard Snapshot.isFile(path) else {
      self = .findings(try SavedReport(file: path))
      return
    }
    do throws(SnapshotError) {
      let file = try HeapFile(path: path)
      if file.hasGraph {
        self = .heap(SavedGraph(heap: try LoadedHeap(file), file: path))
        return
      }
      self = .findings(.snapshot(file.snapshot, file: path))
      guard file.isCensus else { return }
    } catch {
      throw .misuse("cannot read '\(path)': \(error)")
    }
    throw .misuse(
      "'\(path)' is a census, which 'undead watch' compares; give heap files (undead heap PID --save FILE)")
  }

  var report: SavedReport {
    switch self {
    case .heap(let graph): .snapshot(graph.heap.file.snapshot, file: graph.file)
    case .findings(let report): report
    }
  }

  var isHeap: Bool {
    if case .heap = self { true } else { false }
  }

  /// What to say if only one of two files holds a heap.
  static func note(_ old: String, _ before: Self, _ new: String, _ after: Self) -> String? {
    let other: String
    switch (before, after) {
    case (.heap, .findings): other = new
    case (.findings, .heap): other = old
    default: return nil
    }
    return "'\(other)' holds no heap, so only leaks are compared; for growth give two heap files "
      + "(undead heap PID --save FILE, undead run --heap FILE -- PROGRAM)"
  }
}
