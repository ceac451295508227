import FoundationEssentials
import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadSystem

/// What a file brings to a merge.
enum MergeInput {
  case report(LeakReport)
  case heap(HeapReport)

  /// - Parameter leaks: of a heap file, take the leaks.
  init(file: String, leaks: Bool, core: CoreOptions) throws(ToolError) {
    if System.isDirectory(file) { throw .misuse("'\(file)' is a directory; name a file that undead wrote") }
    let state: SavedState
    if Snapshot.isFile(file) || SavedCore.claims(file) {
      state = try SavedState(file: file, core: core)
    } else {
      let content = try InputFile.content(file, as: "'\(file)'")
      if SavedReport.isJSON(content) {
        self = try Self.parsed(content, file, leaks)
        return
      }
      state = .findings(try SavedReport(content: content, file: file))
    }
    if !leaks, case .heap(let graph) = state {
      self = .heap(try Self.table(graph.heap, file))
      return
    }
    switch state.report {
    case .report(let report): self = .report(report)
    case .snapshot(let snapshot, _):
      let names = Symbolizer().symbolize(snapshot)
      var report = LeakReport(
        analyzing: [ReportInput(snapshot, symbols: names.symbols)], tool: ReportPipeline.tool)
      report.summary.notes += names.notes
      self = .report(report)
    }
  }

  private static func table(_ heap: LoadedHeap, _ file: String) throws(ToolError) -> HeapReport {
    var options = HeapReportOptions()
    options.includesSites = false
    do throws(HeapQuestionError) {
      return try HeapReport(heap, options: options, tool: ReportPipeline.tool, symbolizer: nil)
    } catch {
      throw .misuse("cannot read '\(file)': \(error)")
    }
  }

  private struct Head: Decodable {
    var kind: String?
    var schemaVersion: Int?
  }

  private static func parsed(_ content: [UInt8], _ file: String, _ leaks: Bool) throws(ToolError) -> MergeInput {
    let data = Data(content)
    let head = try? JSONDecoder().decode(Head.self, from: data)
    do {
      switch head?.kind {
      case nil: return .report(try JSONRenderer.parse(data))
      case "heap":
        guard !leaks else { throw ReportFileError(message: "the JSON of a heap has no leaks; give the heap file") }
        guard (head?.schemaVersion ?? 1) <= 1 else {
          throw ReportFileError(message: "it has a newer schema; read it with the version of undead that wrote it")
        }
        return .heap(try JSONDecoder().decode(HeapReport.self, from: data))
      case "mergedReport", "mergedHeap":
        throw ReportFileError(message: "it was merged already; give the files that it was made of")
      case let kind?:
        throw ReportFileError(message: "it is of the kind '\(kind.prefix(40))'; give reports of leaks, or heaps")
      }
    } catch let error as ReportFileError {
      throw .misuse("cannot merge '\(file)': \(error)")
    } catch {
      throw .misuse("cannot merge '\(file)': it is no heap that undead wrote as JSON: \(error)")
    }
  }
}
