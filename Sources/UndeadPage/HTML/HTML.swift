import UndeadSystem

/// A document that is written from its start to its end, in which nothing is markup that was not meant to be.
struct HTML {
  typealias Attributes = KeyValuePairs<StaticString, String?>

  /// What was written so far.
  private(set) var markup = ""

  /// Elements without an end tag.
  private static let empty: Set<String> = ["meta", "link", "br", "hr", "img", "input", "col"]

  /// An element with its content; attributes whose value is nil are left out.
  mutating func element(
    _ name: StaticString, _ attributes: Attributes = [:], _ content: (inout HTML) -> Void = { _ in }
  ) {
    open(name, attributes)
    guard !Self.empty.contains("\(name)") else { return }
    content(&self)
    markup += "</\(name)>"
  }

  /// An element that has text only.
  mutating func element(_ name: StaticString, _ attributes: Attributes = [:], text: String) {
    element(name, attributes) { $0.text(text) }
  }

  private mutating func open(_ name: StaticString, _ attributes: Attributes) {
    markup += "<\(name)"
    for (key, value) in attributes {
      guard let value else { continue }
      markup += value.isEmpty ? " \(key)" : " \(key)=\"\(Self.escaped(value))\""
    }
    markup += ">"
  }

  mutating func text(_ text: String) {
    markup += Self.escaped(text)
  }

  /// A line break of the source, for people who read that.
  mutating func line() {
    markup += "\n"
  }

  /// Text of our own that is markup, a style sheet or a script.
  mutating func trusted(_ text: String) {
    markup += text
  }

  /// Lines as they are, in an element that keeps line breaks.
  mutating func element(_ name: StaticString, lines: [String]) {
    element(name) { $0.trusted(lines.map(Self.escaped).joined(separator: "\n")) }
  }

  /// Text as it can stand in an element or in an attribute with double quotes.
  static func escaped(_ text: String) -> String {
    let text = VisibleText.line(text)
    guard text.unicodeScalars.contains(where: needsEscape) else { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count + 16)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "&", "<", ">", "\"", "'": true
    default: false
    }
  }
}
