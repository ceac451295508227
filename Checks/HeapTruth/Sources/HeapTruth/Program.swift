import Foundation

/// Writes a run of few steps as a program that stands alone, for `Tests/EndToEndTests/Programs/Controls`.
struct Program {
  /// The declarations of a file at its top level, by the names that they declare.
  private var declarations: [(names: Set<String>, text: String, file: Int)] = []
  private var classOfKind: [String: (made: String, file: Int)] = [:]

  init() {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Holders")
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    for (number, file) in files.enumerated() {
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
      for match in text.matches(of: /Kind\(name: "([\w.]+)"[^{]*\{ (\w+\(.*?\)) \}/) {
        classOfKind[String(match.1)] = (String(match.2), number)
      }
      add(text, file: number)
    }
  }

  /// A declaration at the top level ends with a line that is not indented.
  private mutating func add(_ text: String, file: Int) {
    var lines: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("import ") || line.hasPrefix("// ") { continue }
      lines.append(line)
      guard line.hasPrefix("}") || line.hasSuffix("}") && !line.hasPrefix(" ") else { continue }
      let declaration = lines.joined(separator: "\n")
      lines = []
      let names = declaration.matches(of: /(?m)^(?:[@\w()]+ )*(?:class|struct|enum|protocol|actor|func) (\w+)/)
      declarations.append((Set(names.map { String($0.1) }), declaration, file))
    }
  }

  /// What the holders of a kind need, in the order of the files.
  private func needed(by kind: String) -> String? {
    guard let (made, file) = classOfKind[kind], let name = made.split(separator: "(").first else { return nil }
    var waiting = [String(name)]
    var wanted = Set<Int>()
    while let next = waiting.popLast() {
      for (index, declaration) in declarations.enumerated() where declaration.names.contains(next) {
        // What is private to another file is not meant.
        if declaration.file != file, declaration.text.contains(#/(?m)^(@.*)?private /#) { continue }
        guard wanted.insert(index).inserted else { continue }
        waiting += declaration.text.matches(of: /\w+/).map { String($0.0) }
      }
    }
    return wanted.sorted().map { declarations[$0].text }.joined(separator: "\n")
  }

  /// The program that does what a trace shows; nil if it needs functions of C or more than one thread.
  func text(from trace: String, why: String) -> String? {
    var body: [String] = []
    var texts: [String] = []
    var known = Set<String>()
    for line in trace.split(separator: "\n") {
      guard let step = line.firstMatch(of: /^0\.\d+ (\w+)(?: (\d+))?(?: \(([\w.]+)\))?(?: node (\d+))?$/) else {
        continue
      }
      let (verb, holder) = (String(step.1), step.2.map { "holders[\($0)]" } ?? "")
      switch (verb, step.3, step.4) {
      case ("make", let kind?, _), ("nest", let kind?, _):
        guard let needed = needed(by: String(kind)), !needed.contains("truth_") else { return nil }
        if !texts.contains(needed) { texts.append(needed) }
        body.append("\(holder) = \(classOfKind[String(kind)]!.made)")
      case ("put", _, let node?):
        let isNew = known.insert(String(node)).inserted
        body.append("_ = \(holder)!.put(\(isNew ? "Node()" : "taken!"))")
      case ("take", _, _): body.append("taken = \(holder)!.take()")
      case ("drop", _, _): body.append("\(holder) = nil")
      case ("release", _, _): body.append("taken = nil")
      default: continue
      }
    }
    if texts.isEmpty { return nil }
    return """
      // \(why)
      // EXPECT silent
      import Foundation
      import Synchronization

      class Node: Hashable, @unchecked Sendable {
        var id: ObjectIdentifier { ObjectIdentifier(self) }
        weak var friend: Node?
        static func == (left: Node, right: Node) -> Bool { left === right }
        func hash(into hasher: inout Hasher) { hasher.combine(id) }
      }
      class Holder: @unchecked Sendable {
        func put(_ node: Node) -> Bool { false }
        func take() -> Node? { nil }
        func churn() {}
      }
      \(texts.joined(separator: "\n"))

      nonisolated(unsafe) var holders: [Int: Holder] = [:]
      nonisolated(unsafe) var taken: Node?
      \(body.joined(separator: "\n"))

      """
  }
}
