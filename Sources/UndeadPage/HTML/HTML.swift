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

  /// Text as it can stand in an element or in an attribute with double quotes.
  static func escaped(_ text: String) -> String {
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
      case _ where isHidden(scalar): result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "&", "<", ">", "\"", "'": true
    default: isHidden(scalar)
    }
  }

  /// Control characters, which HTML forbids, and those that turn the direction of text, with which a name can lie.
  static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: false
    case 0..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069, 0xFFFE, 0xFFFF: true
    default: false
    }
  }
}
