import UndeadFormats
import UndeadHeap
import UndeadHeapReport
import UndeadHeapSamples
import UndeadPage
import UndeadProfile
import UndeadReport

/// All that writers are given.
package struct HostileFindings {
  package var reports: [LeakReport]
  package var heaps: [LoadedHeap]

  /// Two reports that are up to the input.
  package init(reports bytes: [UInt8]) {
    var input = HostileInput(bytes)
    reports = [HostileReport.make(&input), HostileReport.make(&input)]
    heaps = []
  }

  /// Two heaps that are up to the input, and the reports on what leaked in them.
  package init(heaps bytes: [UInt8]) {
    var input = HostileInput(bytes)
    heaps = [HostileHeap.make(&input), HostileHeap.make(&input)].compactMap(\.self)
    reports = heaps.map { heap in
      let snapshot = heap.file.snapshot
      return LeakReport(analyzing: [ReportInput(snapshot, symbols: snapshot.symbols)])
    }
    while reports.count < 2 { reports.append(LeakReport()) }
  }

  /// Every text of a report, and of heaps if they are asked for, is this one.
  package init(text: String, heaps withHeaps: Bool) {
    reports = [SampleReport.hostile(text), SampleReport.full]
    heaps = []
    guard withHeaps else { return }
    var heap = HeapBuilder()
    let stack: [HeapBuilder.Function] = [.app(text, text, 1), .app("main", "/app/main.swift", 1)]
    let block = heap.object("App.\(text)", isOfProgram: true, at: stack)
    let other = heap.object(text, at: stack)
    heap.link(block, text, other, type: text, closure: .app(text, text, 2))
    heap.link(other, text, block, type: text)
    heap.global(text, holds: block)
    heap.note(text)
    heap.mark(text)
    let first = heap
    for _ in 0..<40 { heap.link(block, text, heap.object("App.\(text)", size: 512, at: stack)) }
    heaps = [first, heap].compactMap { try? LoadedHeap(HeapFile(decoding: $0.encoded())) }
  }
}

/// A form in which something leaves the tool.
package enum Form {
  case text, coloured, line, json, xml, html, dot, markdown, commands, profile, rules
}

/// Everything that writes reports.
package enum Writer: String, CaseIterable, Sendable {
  case text, colour, narrow, description, failure, markdown, github, gitlab, junit, sarif, json, html, dot, pprof
  case suppressions, baseline, diffText, diffJSON, mergedText, mergedJSON
  case heapText, heapDetail, heapJSON, heapHTML, heapDot, heapProfile
  case growthText, growthJSON, growthHTML, growthSARIF, mergedHeap, watchText, watchJSON

  /// Writes the findings in this form, in each way that there is.
  package func write(_ findings: HostileFindings) -> [(form: Form, bytes: [UInt8])] {
    let (first, second) = (findings.reports[0], findings.reports[1])
    var options = ReportTextOptions()
    options.directory = "/app"
    func text(_ form: Form, _ text: String) -> [(form: Form, bytes: [UInt8])] { [(form, Array(text.utf8))] }
    func data(_ form: Form, _ data: (some Collection<UInt8>)?) -> [(form: Form, bytes: [UInt8])] {
      data.map { [(form, Array($0))] } ?? []
    }
    switch self {
    case .text:
      options.groupsByCulprit = false
      return text(.text, TextRenderer.render(first)) + text(.text, TextRenderer.render(first, options: options))
    case .colour:
      options.color = true
      return text(.coloured, TextRenderer.render(first, options: options))
    case .narrow:
      options.width = 50
      return text(.text, TextRenderer.render(first, options: options))
    case .description:
      return (first.leaks.map(\.description) + first.suspects.map(\.description) + first.zombies.map(\.description))
        .flatMap { text(.line, $0) } + text(.text, first.description + "\n")
    case .failure:
      let leaks = first.leaks.map { FailureText.text($0, directory: "/app") }
      return (leaks + first.suspects.map { FailureText.text($0) } + first.zombies.map { FailureText.text($0) })
        .flatMap { text(.text, $0 + "\n") }
    case .markdown: return text(.markdown, MarkdownRenderer.render(first, options: options))
    case .github: return text(.commands, GitHubRenderer.render(first, options: options))
    case .gitlab: return data(.json, try? GitLabRenderer.render(first, options: options))
    case .junit: return text(.xml, JUnitRenderer.render(first, options: options))
    case .sarif: return data(.json, try? SARIFRenderer.render(first, options: options))
    case .json: return data(.json, try? JSONRenderer.render(first))
    case .html: return text(.html, ReportPage.render(first, options: options))
    case .dot: return text(.dot, ReportDot.render(first, options: options))
    case .pprof: return data(.profile, ReportProfile.render(first))
    case .suppressions: return SuppressionProposal.lines(for: first).flatMap { text(.line, $0) }
    case .baseline: return text(.rules, Baseline(of: first, file: "baseline").text)
    case .diffText: return text(.text, DiffRenderer.text(ReportDiff(from: first, to: second), options: options))
    case .diffJSON: return data(.json, try? DiffRenderer.json(ReportDiff(from: first, to: second)))
    case .mergedText, .mergedJSON:
      let inputs = findings.reports.enumerated().map { number, report in
        HostInput(host: report.process.path + "\(number)", file: report.process.path, value: report)
      }
      let merged = MergedReport(inputs)
      return self == .mergedJSON
        ? data(.json, try? JSONRenderer.encode(merged)) : text(.text, MergedReportText.render(merged))
    default: return writeHeap(findings, options)
    }
  }

  private func writeHeap(_ findings: HostileFindings, _ options: ReportTextOptions) -> [(form: Form, bytes: [UInt8])] {
    func text(_ form: Form, _ text: String) -> [(form: Form, bytes: [UInt8])] { [(form, Array(text.utf8))] }
    func data(_ form: Form, _ data: (some Collection<UInt8>)?) -> [(form: Form, bytes: [UInt8])] {
      data.map { [(form, Array($0))] } ?? []
    }
    guard let heap = findings.heaps.first else { return [] }
    func report(
      _ heap: LoadedHeap, of subject: HeapSelection.Subject? = nil, folds: Bool = false
    ) -> HeapReport? {
      var options = HeapReportOptions()
      options.subject = subject
      options.foldsStorage = folds
      return try? HeapReport(heap, options: options, symbolizer: nil)
    }
    func growth() -> HeapDiff? {
      guard findings.heaps.count > 1 else { return nil }
      var diff = HeapDiff(from: heap, to: findings.heaps[1], using: nil)
      diff.leaks = ReportDiff(from: findings.reports[0], to: findings.reports[1])
      return diff
    }
    switch self {
    case .heapText:
      return [false, true].compactMap { report(heap, folds: $0) }.flatMap { report in
        HeapView.allCases.flatMap { text(.text, HeapText.render(report, by: $0, options: options)) }
      }
    case .heapDetail:
      return [HeapSelection.Subject.type("*"), .address(0x5500_4000_0000)].compactMap { report(heap, of: $0) }
        .flatMap {
          text(.text, HeapText.render($0, options: options)) + data(.json, try? $0.json())
        }
    case .heapJSON: return data(.json, try? report(heap)?.json())
    case .heapHTML: return text(.html, HeapPage.render(heap, symbols: HeapSymbols(heap, nil)))
    case .heapDot:
      return [HeapDot.Subject.retained, .type("*"), .address(0x5500_4000_0000)].flatMap {
        (try? HeapDot.render(heap, $0)).map { text(.dot, $0) } ?? []
      }
    case .heapProfile: return data(.profile, try? HeapProfile.render(heap.file, symbols: heap.file.snapshot.symbols))
    case .growthText: return growth().map { text(.text, HeapDiffText.render($0, options: options)) } ?? []
    case .growthJSON: return data(.json, try? growth().map { try JSONRenderer.encode($0) })
    case .growthHTML: return growth().map { text(.html, GrowthPage.render($0, options: options)) } ?? []
    case .growthSARIF: return data(.json, try? growth().map { try HeapDiffSARIF.render($0, options: options) })
    case .mergedHeap:
      let inputs = findings.heaps.compactMap { report($0, of: nil) }.enumerated().map { number, report in
        HostInput(host: report.process.path + "\(number)", file: report.process.path, value: report)
      }
      let merged = MergedHeap(inputs)
      return text(.text, MergedHeapText.render(merged, options: options))
        + data(.json, try? JSONRenderer.encode(merged))
    default:
      guard let report = report(heap) else { return [] }
      var series = CountSeries()
      for time in 0..<30 {
        let amounts = report.types.map { row in
          (
            row.type,
            TypeCounts.Amount(count: Double(row.count) * Double(time), bytes: Double(row.bytes) * Double(time))
          )
        }
        series.add(TypeCounts(Dictionary(amounts) { first, _ in first }, duration: 1), at: Double(time) * 60)
      }
      let found = GrowthFindings(series, rules: [try? GrowthRule("* > 1/h")].compactMap(\.self))
      let origins = GrowthOrigins(of: report.types.map(\.type), in: heap, symbolizer: nil, options: options)
      let notes = report.summary.notes
      return self == .watchJSON
        ? data(.json, try? GrowthJSON.render(found, origins, notes: notes))
        : text(.text, GrowthText.render(found, origins, notes: notes))
    }
  }

  /// True for what writes heaps.
  package var isOfHeaps: Bool {
    switch self {
    case .heapText, .heapDetail, .heapJSON, .heapHTML, .heapDot, .heapProfile, .growthText, .growthJSON, .growthHTML,
      .growthSARIF, .mergedHeap, .watchText, .watchJSON:
      true
    default: false
    }
  }

  /// What is wrong with what the writer makes of these findings; nil if nothing is.
  package func problem(_ findings: HostileFindings) -> String? {
    for output in write(findings) {
      if let problem = Oracle.problem(output.bytes, output.form) { return "\(rawValue): \(problem)" }
    }
    return nil
  }
}
