import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadSystem

/// Writes what is in a heap as one page that needs nothing else; without its script it is a page of tables.
package enum HeapPage {
  /// The page as HTML; the same text for the same file and options.
  ///
  /// - Parameters:
  ///   - symbols: names of the code of the file, which must have those of all stacks.
  ///   - options: `directory` shortens the paths of files.
  package static func render(
    _ heap: LoadedHeap, symbols: HeapSymbols, tool: LeakReport.Tool = LeakReport.Tool(),
    options: ReportTextOptions = ReportTextOptions()
  ) -> String {
    var plain = options
    plain.color = false
    let findings = HeapFinding.findings(in: heap, symbols)
    let report = LeakReport(
      analyzing: [ReportInput(heap.file.snapshot, symbols: symbols.table)], tool: tool)
    let kinds = HeapKinds(heap)
    let tree = FoldedTree(heap, kinds)
    var tables = HeapTables(heap)
    let folded = tables.types(foldingStorage: true)
    let work = HeapWork(heap, symbols)
    let names = FrameNames(heap.file.snapshot, symbols: symbols.table)
    var data = HeapPageData(heap, kinds, tree, names, plain)
    let json = data.json(folded: folded, plain: tables.types(foldingStorage: false))

    let total = heap.dominators.retained[heap.dominators.nodes.top]
    let program = SymbolText.fileName(report.process.path)
    var page = Page(
      title:
        "\(program.isEmpty ? "heap" : program): \(Quantity.bytes(Int(clamping: total))) \u{2013} \(tool.name) heap",
      subject: ReportPage.subject(report.process), tool: tool, search: "Search types and findings")
    page.scripts.append(PackageResources.heap_js)
    return page.document { html in
      html.element("main", ["class": "heap"]) { html in
        html.line()
        HeapOverview(heap, report, MemoryVerdict(heap, symbols: symbols)).write(to: &html)
        HeapFindingsView(findings, plain).write(to: &html)
        HeapTablesView(heap, tables, names, plain).write(types: folded, tree: tree, work, to: &html)
        leaks(report, plain, &html)
      }
      html.line()
      html.element("script", ["type": "application/json", "id": "data"]) { $0.trusted(json) }
      html.line()
    }
  }

  private static func leaks(_ report: LeakReport, _ options: ReportTextOptions, _ html: inout HTML) {
    let entries = Entries(report)
    ReportFindings(options, entries).write(to: &html)
    ReportRest(report, options).write(to: &html)
  }
}
