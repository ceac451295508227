/// Shortens the runtime's full text for a function to what its programmer would call it.
///
/// `(2) suspend resume partial function for closure #1 (Swift.Int) -> () in App.Owner.load(from: Swift.String) async
/// -> ()` becomes `closure #1 in App.Owner.load(from:)`. Works on bytes: a report has thousands of names.
package enum FunctionName {
  package static func simplified(_ full: String) -> String {
    var text = Array(full.utf8)[...]
    if let suffix = find(" with unmangled suffix ", in: text) { text = text[..<suffix] }
    while let shorter = withoutWrapper(text) { text = shorter }

    if starts(text, "reabstraction thunk") { return "reabstraction thunk" }
    if starts(text, "protocol witness for ") {
      let witness = text.dropFirst("protocol witness for ".utf8.count)
      let end = find(" in conformance ", in: witness) ?? witness.endIndex
      return "protocol witness for \(entities(witness[..<end]))"
    }
    for kind in ["default argument ", "variable initialization expression of "] where starts(text, kind) {
      let of = find("of ", in: text)! + 3
      return "\(string(text[..<of]))\(entities(text[of...]))"
    }
    for kind in kindsWithoutSignature where starts(text, kind) { return string(text) }
    return entities(text)
  }

  /// Helpers of the compiler about a type, not about a function of the source.
  private static let kindsWithoutSignature = [
    "outlined ", "type metadata ", "lazy protocol witness ", "lazy cache ", "destroy value witness", "one-time ",
    "associated type ", "base witness table ", "value witness ", "key path ", "property descriptor ", "metaclass ",
  ]

  // MARK: Wrappers

  private static let plainWrappers = [
    "partial apply forwarder for ", "partial apply ObjC forwarder for ", "merged ", "dispatch thunk of ",
    "@objc ", "@nonobjc ", "async function pointer to ", "curry thunk of ", "vtable thunk for ",
    "back deployment thunk for ",
  ]
  private static let resumeWrappers = [" suspend resume partial function for ", " await resume partial function for "]

  /// What is inside a function that the compiler made around one of the source; nil if `text` is no such thing.
  private static func withoutWrapper(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    for wrapper in plainWrappers where starts(text, wrapper) { return text.dropFirst(wrapper.utf8.count) }
    if text.first == open {
      // "(3) await resume partial function for ...": a piece of an async function.
      let rest = text.dropFirst().drop { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }.dropFirst()
      for wrapper in resumeWrappers where starts(rest, wrapper) { return rest.dropFirst(wrapper.utf8.count) }
      return nil
    }
    guard
      starts(text, "generic ") || starts(text, "function signature specialization") || starts(text, "inlined generic "),
      let bracket = find(" <", in: text), let end = closing(text, from: bracket + 1), starts(text[(end + 1)...], " of ")
    else { return nil }
    return text[(end + 5)...]
  }

  // MARK: Entities

  /// `A in B in C`, each without its types.
  private static func entities(_ text: ArraySlice<UInt8>) -> String {
    var parts: [String] = []
    var rest = text
    while let separator = findOutside(" in ", in: rest) {
      parts.append(entity(rest[..<separator]))
      rest = rest[(separator + 4)...]
    }
    parts.append(entity(rest))
    return parts.joined(separator: " in ")
  }

  private static func entity(_ text: ArraySlice<UInt8>) -> String {
    for kind in ["closure #", "implicit closure #"] where starts(text, kind) {
      return string(text[..<(find(" ", in: text[(text.startIndex + kind.utf8.count)...]) ?? text.endIndex)])
    }
    // "name.getter : Type"
    let declared = findOutside(" : ", in: text).map { text[..<$0] } ?? text
    let plain = withoutPrivateMarks(declared)[...]
    for fix in [" infix", " prefix", " postfix"] {
      // Operators may look like brackets.
      if let end = find(fix, in: plain) {
        return string(plain[..<end]) + labels(afterName: plain[(end + fix.utf8.count)...])
      }
    }
    var name: [UInt8] = []
    var position = plain.startIndex
    while position < plain.endIndex {
      let byte = plain[position]
      if byte == angle, let end = closing(plain, from: position) {
        position = end + 1
        continue
      }
      if byte == open {
        guard position == plain.startIndex || name.last == UInt8(ascii: " "),
          starts(plain[position...], "(extension in "),
          let end = closing(plain, from: position)
        else { break }
        name.append(contentsOf: plain[position...end])
        position = end + 1
        continue
      }
      name.append(byte)
      position += 1
    }
    return sourceName(name) + (position < plain.endIndex ? labels(afterName: plain[position...]) : "")
  }

  /// With `Name` for `(Name in _0123456789ABCDEF)`.
  private static func withoutPrivateMarks(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var position = text.startIndex
    while position < text.endIndex {
      let rest = text[position...]
      if text[position] == open, let end = closing(text, from: position) {
        if starts(rest, "(extension in ") {
          // Whose extension it is tells code of the program from that of the extended type's module.
          result.append(contentsOf: text[position...end])
          position = end + 1
          continue
        }
        if let mark = findMark(" in _", " in $", in: text[position..<end]),
          !text[position..<mark].dropFirst().contains(open)
        {
          result.append(contentsOf: text[(position + 1)..<mark])
          position = end + 1
          continue
        }
      }
      result.append(text[position])
      position += 1
    }
    return result
  }

  private static func findMark(_ first: String, _ second: String, in text: ArraySlice<UInt8>) -> Int? {
    find(first, in: text) ?? find(second, in: text)
  }

  private static func sourceName(_ name: [UInt8]) -> String {
    var words = string(name[...]).split(separator: " ", omittingEmptySubsequences: true).map(String.init)
    // A function inside a function: "name #1".
    if words.count > 1, words.last!.hasPrefix("#") { words.removeLast() }
    var text = words.joined(separator: " ")
    // Distinguished from `init`: it is what allocates, so its caller is the place that made the object.
    if text.hasSuffix(".__deallocating_deinit") { text = text.replacing(".__deallocating_deinit", with: ".deinit") }
    return text
  }

  /// `(name: Swift.String, Swift.Int) async -> ()` as `(name:_:)`.
  private static func labels(afterName text: ArraySlice<UInt8>) -> String {
    guard let start = text.firstIndex(of: open), let end = closing(text, from: start) else { return "" }
    var list = text[(start + 1)..<end]
    if list.isEmpty { return "()" }
    var labels = ""
    while true {
      let comma = findOutside(", ", in: list)
      let parameter = list[..<(comma ?? list.endIndex)]
      if let colon = findOutside(": ", in: parameter), !parameter[..<colon].contains(UInt8(ascii: " ")) {
        labels += string(parameter[..<colon]) + ":"
      } else {
        labels += "_:"
      }
      guard let comma else { return "(\(labels))" }
      list = list[(comma + 2)...]
    }
  }

  // MARK: Text

  private static let open = UInt8(ascii: "(")
  private static let angle = UInt8(ascii: "<")

  private static func string(_ text: ArraySlice<UInt8>) -> String { String(decoding: text, as: UTF8.self) }

  private static func starts(_ text: ArraySlice<UInt8>, _ prefix: String) -> Bool { text.starts(with: prefix.utf8) }

  private static func find(_ word: String, in text: ArraySlice<UInt8>) -> Int? {
    let length = word.utf8.count
    guard text.count >= length else { return nil }
    return (text.startIndex...(text.endIndex - length)).first { text[$0...].starts(with: word.utf8) }
  }

  /// The place of a word that is in no bracket.
  private static func findOutside(_ word: String, in text: ArraySlice<UInt8>) -> Int? {
    var position = text.startIndex
    while position < text.endIndex {
      if text[position...].starts(with: word.utf8) { return position }
      position = (closing(text, from: position) ?? position) + 1
    }
    return nil
  }

  /// The bracket that closes the one at `start`; nil if there is no bracket at `start`, or it stays open.
  private static func closing(_ text: ArraySlice<UInt8>, from start: Int) -> Int? {
    guard start < text.endIndex else { return nil }
    let pairs: [UInt8: UInt8] = [
      open: UInt8(ascii: ")"), angle: UInt8(ascii: ">"), UInt8(ascii: "["): UInt8(ascii: "]"),
    ]
    guard pairs[text[start]] != nil else { return nil }
    var expected: [UInt8] = []
    for position in start..<text.endIndex {
      let byte = text[position]
      let isArrow = byte == UInt8(ascii: ">") && position > start && text[position - 1] == UInt8(ascii: "-")
      if let closer = pairs[byte] {
        expected.append(closer)
      } else if byte == expected.last && !isArrow {
        expected.removeLast()
        if expected.isEmpty { return position }
      }
    }
    return nil
  }
}
