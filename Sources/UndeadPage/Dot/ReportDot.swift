import UndeadReport

/// Draws the cycles and paths of a leak report as a graph for Graphviz.
package enum ReportDot {
  /// Findings that are drawn, the worst first; the others are counted in a comment.
  private static let limit = 40

  /// The graph; the same text for the same report.
  package static func render(_ report: LeakReport, options: ReportTextOptions = ReportTextOptions()) -> String {
    var plain = options
    plain.color = false
    let program = SymbolText.fileName(report.process.path)
    var dot = Dot(program.isEmpty ? "undead" : program)
    let drawn = Entries(report).all.filter { !$0.worst.chains.isEmpty }
    for entry in drawn.prefix(limit) {
      dot.cluster(entry.id, entry.title.replacing("`", with: "")) { dot in
        for (number, chain) in entry.worst.chains.enumerated() { add(chain, "\(entry.id)/\(number)", plain, &dot) }
      }
    }
    if drawn.count > limit { dot.comment("\(drawn.count - limit) more findings are not drawn") }
    return dot.text
  }

  private static let culprit = [("color", "red"), ("fontcolor", "red"), ("penwidth", "2")]
  private static let shown = 12

  private static func add(_ chain: Chain, _ id: String, _ options: ReportTextOptions, _ dot: inout Dot) {
    var first = "\(id)/0"
    if let root = chain.root {
      dot.node("\(id)/root", [root.kindText, root.text].filter { !$0.isEmpty }, [("shape", "ellipse")], indent: 4)
      dot.edge("\(id)/root", first, indent: 4)
    }
    let links = chain.links
    dot.node(first, [links.first?.from ?? chain.start ?? ""], indent: 4)
    for (number, link) in links.enumerated() {
      let isLast = number == links.count - 1
      let next = isLast && chain.isClosed ? "\(id)/0" : "\(id)/\(number + 1)"
      if links.count > shown, number >= shown / 2, number < links.count - shown / 2 {
        guard number == shown / 2 else { continue }
        let after = "\(id)/\(links.count - shown / 2)"
        dot.edge(first, "\(id)/more", indent: 4)
        dot.node(
          "\(id)/more", ["\(chain.omitted.plus(links.count - shown)) more references"], [("style", "dashed")], indent: 4
        )
        dot.node(after, [links[links.count - shown / 2].from], indent: 4)
        dot.edge("\(id)/more", after, indent: 4)
        first = after
        continue
      }
      if next != "\(id)/0" { dot.node(next, [link.to], indent: 4) }
      add(link, from: first, to: next, "\(id)/closure/\(number)", options, &dot)
      first = next
    }
  }

  private static func add(
    _ link: Chain.Link, from: String, to: String, _ id: String, _ options: ReportTextOptions, _ dot: inout Dot
  ) {
    guard link.holdsClosure else {
      return dot.edge(from, to, link.fieldText, link.isCulprit ? culprit : [], indent: 4)
    }
    dot.node(id, [StackText.closure(link.closure, options).plain], [("style", "dashed")], indent: 4)
    dot.edge(from, id, link.fieldText, indent: 4)
    dot.edge(id, to, Names.captures(link), link.isCulprit ? culprit : [], indent: 4)
  }
}
