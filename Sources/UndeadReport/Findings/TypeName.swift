/// Names of types.
package enum TypeName {
  /// A text with names in which long generic arguments are left out: for people, who know them from the rest of the name.
  package static func elided(_ text: String) -> String {
    let longest = 60
    let utf8 = Array(text.utf8)
    guard utf8.count > longest else { return text }
    let captures = Array("(captures ".utf8)
    var result: [UInt8] = []
    var start = 0
    while start < utf8.count {
      if utf8[start...].starts(with: captures), let end = utf8[start...].firstIndex(of: UInt8(ascii: ")")),
        end - start > longest
      {
        result += captures + Array("\u{2026}".utf8)
        start = end
        continue
      }
      guard utf8[start] == UInt8(ascii: "<"), let end = closing(utf8, from: start), end - start > longest else {
        result.append(utf8[start])
        start += 1
        continue
      }
      result += Array("<\u{2026}>".utf8)
      start = end + 1
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The position of the bracket that closes the one at `start`; nil if there is none.
  private static func closing(_ text: [UInt8], from start: Int) -> Int? {
    var depth = 0
    for position in start..<text.count {
      if text[position] == UInt8(ascii: "<") { depth += 1 }
      // The arrow of a function type is no bracket.
      if text[position] == UInt8(ascii: ">"), text[position - 1] != UInt8(ascii: "-") { depth -= 1 }
      if depth == 0 { return position }
    }
    return nil
  }

  /// Without generic arguments: "App.Box<Swift.Int>.Node" -> "App.Box.Node".
  package static func unspecialized(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "<")) else { return name }
    var result: [UInt8] = []
    var depth = 0
    var last: UInt8 = 0
    for byte in name.utf8 {
      if byte == UInt8(ascii: "<") { depth += 1 }
      if depth == 0 { result.append(byte) }
      // The arrow of a function type is no bracket.
      if byte == UInt8(ascii: ">"), last != UInt8(ascii: "-"), depth > 0 { depth -= 1 }
      last = byte
    }
    return String(decoding: result, as: UTF8.self)
  }
}
