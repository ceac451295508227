import UndeadHeap
import UndeadPage
import UndeadProfile
import UndeadReport

/// A heap in the forms that are drawn: by a browser, by Graphviz, by pprof.
struct HeapDrawing {
  private let heap: LoadedHeap
  private static let tool = LeakReport.Tool(version: UndeadCommand.version)

  init(_ heap: LoadedHeap) {
    self.heap = heap
  }

  func write(_ format: HeapFormat, _ subject: HeapDot.Subject, to sink: OutputSink) throws(ToolError) {
    switch format {
    case .html:
      var options = ReportTextOptions()
      options.directory = System.currentDirectory
      try sink.write(HeapPage.render(heap, symbols: symbols, tool: Self.tool, options: options).utf8)
    case .dot:
      let text: String
      do throws(HeapQuestionError) {
        text = try HeapDot.render(heap, subject)
      } catch {
        throw .misuse("\(error)")
      }
      try sink.write(text.utf8)
    case .pprof: try sink.writeProfile { try HeapProfile.render(heap.file, symbols: symbols.table, tool: Self.tool) }
    case .text, .json: break
    }
  }

  /// Names of all code that allocated; a file that was written by the tool has them.
  private var symbols: HeapSymbols {
    let symbols = HeapSymbols(heap)
    let snapshot = heap.file.snapshot
    symbols.prepare(
      stacks: (0..<snapshot.stacks.count).map { Snapshot.Index($0) }, functions: snapshot.edges.map(\.function))
    return symbols
  }
}

extension OutputSink {
  /// Writes a profile, which is no text.
  func writeProfile(_ bytes: () throws -> [UInt8]) throws(ToolError) {
    if isTerminal { throw .misuse("a profile is no text for a terminal; name a file with --output") }
    let made: [UInt8]
    do {
      made = try bytes()
    } catch {
      throw .failure("cannot make the profile: \(error)")
    }
    try write(Gzip.compress(made))
  }
}
