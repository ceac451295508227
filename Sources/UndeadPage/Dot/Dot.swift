import UndeadSystem

/// Writes a graph in the language of Graphviz.
struct Dot {
  private var lines: [String]

  /// - Parameter attributes: of the graph, its boxes and its arrows.
  init(_ name: String, attributes: [String] = []) {
    lines = ["digraph \(Self.quoted(name)) {"]
    lines +=
      (["rankdir=LR", "node [shape=box, style=rounded, fontname=\"monospace\", fontsize=11]"]
      + ["edge [fontname=\"monospace\", fontsize=10]"] + attributes).map { "  \($0);" }
  }

  mutating func node(_ id: String, _ label: [String], _ attributes: [(String, String)] = [], indent: Int = 2) {
    add("\(Self.quoted(id))\(Self.list([("label", label)] + attributes.map { ($0.0, [$0.1]) }))", indent)
  }

  mutating func edge(
    _ from: String, _ to: String, _ label: String = "", _ attributes: [(String, String)] = [], indent: Int = 2
  ) {
    let all = ((label.isEmpty ? [] : [("label", label)]) + attributes).map { ($0.0, [$0.1]) }
    add("\(Self.quoted(from)) -> \(Self.quoted(to))\(Self.list(all))", indent)
  }

  /// Nodes in a frame of their own.
  mutating func cluster(_ id: String, _ label: String, _ content: (inout Dot) -> Void) {
    lines.append("  subgraph \(Self.quoted("cluster_\(id)")) {")
    add("label=\(Self.quoted(label))", 4)
    content(&self)
    lines.append("  }")
  }

  mutating func comment(_ text: String) {
    lines.append("  // \(VisibleText.line(text))")
  }

  /// The whole graph.
  var text: String { (lines + ["}"]).joined(separator: "\n") + "\n" }

  private mutating func add(_ statement: String, _ indent: Int) {
    lines.append(String(repeating: " ", count: indent) + statement + ";")
  }

  private static func list(_ attributes: [(String, [String])]) -> String {
    guard !attributes.isEmpty else { return "" }
    return " [" + attributes.map { "\($0.0)=\(quoted($0.1))" }.joined(separator: ", ") + "]"
  }

  /// A text in quotes: nothing in it is markup, escape or the end of the text.
  static func quoted(_ text: String) -> String { quoted([text]) }

  /// Lines in quotes.
  private static func quoted(_ lines: [String]) -> String {
    let escaped = lines.map { line in
      var result = ""
      for scalar in VisibleText.line(line).unicodeScalars {
        if scalar == "\"" || scalar == "\\" { result += "\\" }
        result.unicodeScalars.append(scalar)
      }
      return result
    }
    return "\"" + escaped.joined(separator: "\\n") + "\""
  }
}
