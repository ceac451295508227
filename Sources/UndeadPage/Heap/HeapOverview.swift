import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadSystem

/// The top of a heap's page: figures, and where the memory of the process is.
struct HeapOverview {
  private let heap: LoadedHeap
  private let report: LeakReport
  private let verdict: MemoryVerdict?

  init(_ heap: LoadedHeap, _ report: LeakReport, _ verdict: MemoryVerdict?) {
    self.heap = heap
    self.report = report
    self.verdict = verdict
  }

  func write(to html: inout HTML) {
    let program = SymbolText.fileName(report.process.path)
    html.element("section", ["class": "overview"]) { html in
      html.element("h1", text: "Memory" + (program.isEmpty ? "" : " of \(program)"))
      html.line()
      tiles(&html)
      memory(&html)
    }
    html.line()
  }

  private func tiles(_ html: inout HTML) {
    var (objects, objectBytes, others, otherBytes) = (0, UInt64(0), 0, UInt64(0))
    let tally = heap.countsOfGroups()
    for (group, count) in tally.counts.enumerated() {
      let isOther = UInt32(group) == heap.types.raw || UInt32(group) == heap.types.foreign
      if isOther {
        others += count
        otherBytes &+= tally.bytes[group]
      } else {
        objects += count
        objectBytes &+= tally.bytes[group]
      }
    }
    var tiles = [
      (
        "objects", Quantity.grouped(objects), Quantity.bytes(Int(clamping: objectBytes)), "#types", ""
      ),
      (
        "other blocks", Quantity.grouped(others), Quantity.bytes(Int(clamping: otherBytes)),
        nil as String?, ""
      ),
      ("types", Quantity.grouped(heap.types.groups.count - 2), "", "#types", ""),
    ]
    let resident = heap.file.memory.reduce(UInt64(0)) { $0 &+ $1.resident }
    if resident > 0 {
      tiles.append(("resident", Quantity.bytes(Int(clamping: resident)), "", "#memory", ""))
    }
    let summary = report.summary
    if summary.leaks > 0 {
      tiles.append(
        (
          "leaks", Quantity.grouped(summary.leaks), Quantity.bytes(summary.leakedBytes), "#leaks",
          "bad"
        ))
    }
    if summary.suspects > 0 {
      tiles.append(("suspects", Quantity.grouped(summary.suspects), "", "#suspects", "doubtful"))
    }
    if !summary.complete {
      tiles.append(("check", "incomplete", "see the notes", "#notes", "doubtful"))
    }
    html.element("div", ["class": "tiles"]) { html in
      for tile in tiles {
        Tile(label: tile.0, value: tile.1, note: tile.2, link: tile.3, style: tile.4).write(
          to: &html)
      }
    }
    html.line()
  }

  // MARK: Memory of the process

  private func memory(_ html: inout HTML) {
    var sums: [UInt32: UInt64] = [:]
    for line in heap.file.memory { sums[line.kind, default: 0] &+= line.resident }
    let total = sums.values.reduce(0, &+)
    guard total > 0 else { return }
    let parts = sums.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    html.element("figure", ["class": "memory", "id": "memory"]) { html in
      html.element(
        "figcaption",
        text: "Resident memory of the process: \(Quantity.bytes(Int(clamping: total)))")
      html.element("div", ["class": "bar-of-parts", "aria-hidden": "true"]) { html in
        for part in parts {
          let share = Double(part.value) / Double(total) * 100
          html.element(
            "span",
            [
              "class": "part-\(part.key)", "style": "width:\(Percent.text(share))%",
              "title": HeapFile.MemoryLine.words(for: part.key),
            ])
        }
      }
      if let verdict {
        let advice = verdict.advice.prefix(1).uppercased() + verdict.advice.dropFirst()
        html.element("p", text: "\(verdict.sentence). \(advice).")
      }
      html.element("ul", ["class": "legend"]) { html in
        for part in parts {
          html.element("li") { html in
            html.element("i", ["class": "part-\(part.key)"])
            html.text("\(HeapFile.MemoryLine.words(for: part.key)) ")
            html.element("b", text: Quantity.bytes(Int(clamping: part.value)))
          }
        }
      }
    }
    html.line()
  }
}
