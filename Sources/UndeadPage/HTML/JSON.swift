import UndeadSystem

/// Writes compact JSON that can stand inside of a `script` element.
struct JSON {
  private(set) var text = ""
  private var needsComma = false

  private mutating func separate() {
    if needsComma { text += "," }
    needsComma = true
  }

  mutating func number(_ value: Int) {
    separate()
    text += String(value)
  }

  mutating func number(_ value: UInt64) { number(Int(clamping: value)) }

  mutating func string(_ value: String) {
    separate()
    quote(value)
  }

  mutating func array(_ content: (inout JSON) -> Void) { enclose("[", "]", content) }

  mutating func object(_ content: (inout JSON) -> Void) { enclose("{", "}", content) }

  private mutating func enclose(_ start: String, _ end: String, _ content: (inout JSON) -> Void) {
    separate()
    text += start
    needsComma = false
    content(&self)
    text += end
    needsComma = true
  }

  mutating func key(_ name: StaticString) {
    separate()
    text += "\"\(name)\":"
    needsComma = false
  }

  /// `<` and `&` would be read as markup by some.
  private mutating func quote(_ value: String) {
    text += "\""
    for scalar in VisibleText.line(value).unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "<", ">", "&":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
