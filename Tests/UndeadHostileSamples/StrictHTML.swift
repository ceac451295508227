/// Reads a page as a strict browser would: every element is closed where it must be.
package struct StrictHTML {
  package struct Element {
    package var name: String
    package var attributes: [String: String]
  }

  package struct Problem: Error, CustomStringConvertible {
    package var description: String
  }

  package private(set) var elements: [Element] = []
  /// The texts between the tags, as they stand there.
  package private(set) var texts: [String] = []

  private static let empty: Set<String> = ["meta", "link", "br", "hr", "img", "input", "col"]

  package init(_ page: String) throws {
    var rest = page[...]
    var open: [String] = []
    while let start = rest.firstIndex(of: "<") {
      texts.append(String(rest[..<start]))
      rest = rest[start...]
      if rest.hasPrefix("<!doctype html>") {
        rest = rest.dropFirst("<!doctype html>".count)
        continue
      }
      guard let end = Self.endOfTag(rest) else { throw Problem(description: "open tag at \(rest.prefix(60))") }
      let tag = rest[rest.index(after: start)..<end].drop { $0 == "<" }
      rest = rest[rest.index(after: end)...]
      if tag.hasPrefix("/") {
        let name = String(tag.dropFirst())
        guard open.popLast() == name else { throw Problem(description: "</\(name)> closes what is not open") }
        continue
      }
      let element = try Self.element(tag)
      elements.append(element)
      if Self.empty.contains(element.name) || tag.hasSuffix("/") { continue }
      if ["script", "style"].contains(element.name) {
        guard let close = rest.firstRange(of: "</\(element.name)") else {
          throw Problem(description: "no end of script")
        }
        rest = rest[close.lowerBound...]
      }
      open.append(element.name)
    }
    texts.append(String(rest))
    guard open.isEmpty else { throw Problem(description: "not closed: \(open)") }
  }

  private static func endOfTag(_ text: Substring) -> Substring.Index? {
    var isQuoted = false
    return text.indices.first { index in
      if text[index] == "\"" { isQuoted.toggle() }
      return text[index] == ">" && !isQuoted
    }
  }

  private static func element(_ tag: Substring) throws -> Element {
    let name = tag.prefix { !$0.isWhitespace && $0 != "/" }
    var attributes: [String: String] = [:]
    var rest = tag[name.endIndex...].drop(while: \.isWhitespace)
    while let first = rest.first, first != "/" {
      let key = rest.prefix { $0.isLetter || $0 == "-" || $0.isNumber }
      guard !key.isEmpty else { throw Problem(description: "strange attribute in <\(tag)>") }
      rest = rest[key.endIndex...]
      var value = ""
      if rest.hasPrefix("=\"") {
        rest = rest.dropFirst(2)
        value = String(rest.prefix { $0 != "\"" })
        rest = rest.dropFirst(value.count + 1)
      }
      guard attributes.updateValue(value, forKey: String(key)) == nil else {
        throw Problem(description: "\(key) twice in <\(tag)>")
      }
      rest = rest.drop(while: \.isWhitespace)
    }
    return Element(name: String(name), attributes: attributes)
  }
}
