import Foundation
import UndeadPage
import UndeadReport
import UndeadSystem

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Says whether what was written can do no harm, and is what its form says.
package enum Oracle {
  package static func problem(_ bytes: [UInt8], _ form: Form) -> String? {
    if form == .profile { return ofProfile(bytes) }
    guard let text = String(validating: bytes, as: UTF8.self) else { return "not UTF-8" }
    let shown = form == .coloured ? withoutStyles(text) : text
    guard let shown else { return "an escape sequence that is no style" }
    if let problem = ofShown(shown, form) { return problem }
    switch form {
    case .text, .coloured:
      return text.hasSuffix("\n") && text.contains("\u{1B}") == (form == .coloured && shown != text)
        ? nil : "the last line does not end, or there are styles"
    case .line: return text.unicodeScalars.contains("\n") ? "more than one line" : nil
    case .rules: return nil
    case .json: return ofJSON(bytes)
    case .xml: return ofXML(bytes)
    case .html: return ofHTML(text)
    case .dot: return ofDot(text)
    case .markdown: return ofMarkdown(text)
    case .commands: return ofCommands(text)
    case .profile: return nil
    }
  }

  /// No hidden scalars, no commands of runners, no line that a name has made.
  private static func ofShown(_ text: String, _ form: Form) -> String? {
    let visible = VisibleText.lines(text)
    if visible != text, form != .html || !isOwn(text) { return "hidden scalars: \(excerpt(visible, text))" }
    for line in text.split(separator: "\n") {
      if form != .commands, VisibleText.isCommand(line) { return "a command: \(line.prefix(80))" }
      if line.hasPrefix("FORGED") { return "a forged line: \(line.prefix(80))" }
    }
    return nil
  }

  /// Scripts and styles of pages may have `##`.
  private static func isOwn(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { $0 == "\n" || !VisibleText.isHidden($0) }
  }

  private static func excerpt(_ visible: String, _ text: String) -> String {
    let same = zip(visible.unicodeScalars, text.unicodeScalars).prefix { $0 == $1 }.count
    return String(String.UnicodeScalarView(visible.unicodeScalars.dropFirst(max(0, same - 20)).prefix(60)))
  }

  /// The text without `ESC [ n m` and links; nil if another escape is left.
  private static func withoutStyles(_ text: String) -> String? {
    var result = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\u{1B}" else {
        result.append(scalar)
        continue
      }
      guard rest.popFirst() == "[" else { return nil }
      rest = rest.drop { ("0"..."9").contains($0) || $0 == ";" }
      guard rest.popFirst() == "m" else { return nil }
    }
    return String(result)
  }

  private static func ofJSON(_ bytes: [UInt8]) -> String? {
    do {
      _ = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      return nil
    } catch {
      return "no JSON: \(error)"
    }
  }

  private static func ofXML(_ bytes: [UInt8]) -> String? {
    let parser = XMLParser(data: Data(bytes))
    return parser.parse() ? nil : "no XML: \(parser.parserError.map { "\($0)" } ?? "")"
  }

  private static func ofHTML(_ text: String) -> String? {
    let elements: [StrictHTML.Element]
    do {
      elements = try StrictHTML(text).elements
    } catch {
      return "no HTML: \(error)"
    }
    for element in elements {
      if ["img", "iframe", "object", "embed", "form", "base", "b-x"].contains(element.name) {
        return "<\(element.name)>"
      }
      for (name, value) in element.attributes {
        if name.hasPrefix("on") { return "attribute \(name)" }
        if ["href", "src", "action", "xlink:href"].contains(name), !value.hasPrefix("#") { return "\(name)=\(value)" }
      }
    }
    return text.contains("<script>alert") ? "a script" : nil
  }

  private static func ofDot(_ text: String) -> String? {
    for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
      var (isQuoted, isEscaped, outside) = (false, false, "")
      for scalar in line.unicodeScalars {
        if isEscaped {
          isEscaped = false
        } else if isQuoted, scalar == "\\" {
          isEscaped = true
        } else if scalar == "\"" {
          isQuoted.toggle()
        } else if !isQuoted {
          outside.unicodeScalars.append(scalar)
        }
      }
      if isQuoted { return "an open quote: \(line.prefix(80))" }
      let allowed = "abcdefghijklmnopqrstuvwxyzLRTB0123456789=[]{},;->. _"
      if let other = outside.first(where: { !allowed.contains($0) }) {
        return "\(other) outside of quotes: \(line.prefix(80))"
      }
    }
    return text.hasPrefix("digraph ") && text.hasSuffix("}\n") ? nil : "no graph"
  }

  /// Outside of fences there is no markup but the renderer's own.
  private static func ofMarkdown(_ text: String) -> String? {
    var fence: Substring?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let open = fence {
        let run = line.prefix { $0 == "`" }
        if run.count >= open.count, line.dropFirst(run.count).allSatisfy(\.isWhitespace) { fence = nil }
        continue
      }
      if line.hasPrefix("```") {
        fence = line.prefix { $0 == "`" }
        continue
      }
      var own = String(line)
      for tag in ["<details>", "<summary>", "<code>", "</code>", "</summary>", "</details>"] {
        own = own.replacing(tag, with: "", maxReplacements: 1)
      }
      if own.unicodeScalars.contains("<") { return "HTML: \(line.prefix(80))" }
      if line.hasPrefix("<details>") { continue }
      let plain = withoutCode(own)
      for word in ["](", "://", "www.", "@"] where plain.contains(word) { return "\(word) in \(line.prefix(120))" }
      if line.hasPrefix("|"),
        plain.replacing("\\\\", with: "").replacing("\\|", with: "").count(where: { $0 == "|" }) != 5
      {
        return "a row of another number of cells: \(line.prefix(120))"
      }
    }
    return fence == nil ? nil : "a fence is not closed"
  }

  /// Without code spans, and with escaped characters as `\` and nothing.
  private static func withoutCode(_ line: String) -> String {
    var result = String.UnicodeScalarView()
    var rest = line.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\\":
        result.append(scalar)
        if let next = rest.popFirst() { result.append(next == "[" || next == "]" || next == "`" ? " " : next) }
      case "`":
        let length = 1 + rest.prefix { $0 == "`" }.count
        rest = rest.dropFirst(length - 1)
        // The next run of as many ends it.
        var place = rest.startIndex
        var end: Substring.UnicodeScalarView.Index?
        while place < rest.endIndex {
          let run = rest[place...].prefix { $0 == "`" }
          if run.isEmpty {
            place = rest.index(after: place)
          } else if run.count == length {
            end = run.endIndex
            break
          } else {
            place = run.endIndex
          }
        }
        if let end { rest = rest[end...] }
        result.append(" ")
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  private static func ofCommands(_ text: String) -> String? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    guard lines.last?.hasPrefix("undead: ") ?? false else { return "no summary" }
    guard lines.count <= 11 else { return "\(lines.count - 1) commands" }
    for line in lines.dropLast() {
      guard let command = ["::error ", "::warning ", "::notice "].first(where: line.hasPrefix) else {
        return "no command: \(line.prefix(80))"
      }
      let properties = line.dropFirst(command.count).firstRange(of: "::").map { line[..<$0.lowerBound] } ?? line[...]
      let names = properties.dropFirst(command.count).split(separator: ",").map { $0.prefix { $0 != "=" } }
      guard names.allSatisfy({ ["file", "line", "title"].contains($0) }), Set(names).count == names.count else {
        return "properties: \(properties)"
      }
    }
    return nil
  }

  /// The texts of a profile, and that its parts are whole.
  private static func ofProfile(_ bytes: [UInt8]) -> String? {
    var rest = bytes[...]
    func varint() -> UInt64? {
      var (value, shift): (UInt64, UInt64) = (0, 0)
      while let byte = rest.popFirst(), shift < 64 {
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
      return nil
    }
    while !rest.isEmpty {
      guard let tag = varint() else { return "cut off" }
      switch tag & 7 {
      case 0: if varint() == nil { return "cut off" }
      case 2:
        guard let count = varint(), count <= UInt64(rest.count) else { return "cut off" }
        let part = rest.prefix(Int(count))
        rest = rest.dropFirst(Int(count))
        guard tag >> 3 == 6 else { continue }
        guard let text = String(validating: part, as: UTF8.self) else { return "not UTF-8" }
        if VisibleText.line(text) != text { return "hidden scalars: \(VisibleText.line(text).prefix(80))" }
      default: return "a part of unknown kind"
      }
    }
    return nil
  }
}
