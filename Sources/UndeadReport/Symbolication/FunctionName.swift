/// A demangled function name, taken apart: the runtime's full text, or the short one that reports have.
///
/// Works on bytes: a report has thousands of names, and a symbol table hundreds of thousands.
package struct FunctionName {
  /// What the function is inside of another one: "closure #1", "helper(_:) #2"; innermost first.
  let inner: [String]
  /// The module of the extension that declares the function.
  let extender: String?
  /// "App", "Owner", "load": without generic arguments and private marks.
  let path: [String]
  /// From the bracket on: "(from:)"; "" for what takes none.
  let arguments: String

  /// "App.Owner.load(from:)".
  var qualified: String { scope + arguments }
  /// "App.Owner.load".
  var scope: String { path.joined(separator: ".") }
  /// What the function is a member of, also of an accessor of it: "App", "Owner".
  var owner: ArraySlice<String> { path.dropLast(path.last.map(Self.accessors.contains) == true ? 2 : 1) }
  /// The module that declares the function; nil for names of other languages and of helpers of the compiler.
  var module: String? {
    if let extender { return extender }
    guard path.count > 1, path[0].allSatisfy({ $0 == "_" || $0.isLetter || $0.isNumber }) else { return nil }
    return path[0].isEmpty ? nil : path[0]
  }

  static let accessors: Set = [
    "getter", "setter", "modify", "modify2", "read", "read2", "didset", "willset", "unsafeAddressor",
    "unsafeMutableAddressor",
  ]

  package init(_ symbol: String) {
    var text = Self.withoutWrappers(Array(symbol.utf8)[...])
    if let conformance = Self.find(" in conformance ", in: text) { text = text[..<conformance] }
    var inner: [String] = []
    // What is local is written before what it is in.
    while let divider = Self.findOutside(" in ", in: text) {
      inner.append(Self.string(text[..<divider]))
      text = text[(divider + 4)...]
    }
    let declaration = Declaration(Self.introduction(text).map { text[$0...] } ?? text)
    self.inner = inner
    extender = declaration.extender.map(Self.string)
    path = declaration.path.map { Self.string($0[...]) }
    arguments = Self.string(declaration.arguments)
  }

  /// The symbol without what the compiler put before the function that the programmer wrote.
  package static func withoutThunks(_ symbol: String) -> String {
    let text = Array(symbol.utf8)
    let rest = withoutWrappers(text[...])
    return rest.count == text.count ? symbol : string(rest)
  }

  /// The function of a text `NAME in SCOPE`, qualified.
  static func member(_ text: String) -> String? {
    let text = Array(text.utf8)[...]
    guard let divider = findOutside(" in ", in: text) else { return nil }
    let path = Declaration(text[(divider + 4)...]).path + Declaration(text[..<divider]).path
    return path.map { string($0[...]) }.joined(separator: ".")
  }

  // MARK: Short

  /// Shortens the runtime's full text for a function to what its programmer would call it.
  ///
  /// `(2) suspend resume partial function for closure #1 (Swift.Int) -> () in App.Owner.load(from: Swift.String) async
  /// -> ()` becomes `closure #1 in App.Owner.load(from:)`.
  package static func simplified(_ full: String) -> String {
    let text = withoutWrappers(Array(full.utf8)[...])

    if starts(text, "reabstraction thunk") { return "reabstraction thunk" }
    if starts(text, witness) {
      let witnessed = text.dropFirst(witness.utf8.count)
      return witness + entities(witnessed[..<(find(" in conformance ", in: witnessed) ?? witnessed.endIndex)])
    }
    if let start = introduction(text) { return string(text[..<start]) + entities(text[start...]) }
    for kind in kindsWithoutSignature where starts(text, kind) { return string(text) }
    return entities(text)
  }

  package static let witness = "protocol witness for "

  /// Helpers of the compiler about a type, not about a function of the source.
  private static let kindsWithoutSignature = [
    "outlined ", "type metadata ", "lazy protocol witness ", "lazy cache ", "destroy value witness", "one-time ",
    "associated type ", "base witness table ", "value witness ", "key path ", "property descriptor ", "metaclass ",
  ]

  /// True for what the compiler made for a type, by its short name.
  static func isHelper(_ name: String) -> Bool { kindsWithoutSignature.contains(where: name.hasPrefix) }

  /// Where the declaration begins that a value belongs to: after "default argument 0 of ".
  private static func introduction(_ text: ArraySlice<UInt8>) -> Int? {
    for kind in ["default argument ", "variable initialization expression of "] where starts(text, kind) {
      return find("of ", in: text).map { $0 + 3 }
    }
    return nil
  }

  // MARK: Wrappers

  private static let plainWrappers = [
    "partial apply forwarder for ", "partial apply ObjC forwarder for ", "partial apply for ", "merged ",
    "specialized ", "dispatch thunk of ", "@objc ", "@nonobjc ", "async function pointer to ",
    "coro function pointer to ", "curry thunk of ", "vtable thunk for ", "back deployment thunk for ", "override ",
    "default override of ", "method descriptor for ", "non-virtual ", "suspend resume partial function for ",
    "await resume partial function for ",
  ]
  private static let specializations = ["generic ", "function signature specialization", "inlined generic "]

  /// What is inside the functions that the compiler made around one of the source.
  private static func withoutWrappers(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = find(" with unmangled suffix ", in: text).map { text[..<$0] } ?? text
    while let shorter = withoutWrapper(text) { text = shorter }
    return text
  }

  private static func withoutWrapper(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    for wrapper in plainWrappers where starts(text, wrapper) { return text.dropFirst(wrapper.utf8.count) }
    if text.first == open {
      // "(3) await resume partial function for ...": a piece of an async function.
      let rest = text.dropFirst().drop { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      guard starts(rest, ") "), let end = find("resume partial function for ", in: rest.prefix(40)) else { return nil }
      return text[(end + "resume partial function for ".utf8.count)...]
    }
    guard specializations.contains(where: { starts(text, $0) }), let bracket = find(" <", in: text),
      let end = closing(text, from: bracket + 1), starts(text[(end + 1)...], " of ")
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
    let declaration = Declaration(text)
    var words = string(Array(declaration.path.joined(separator: [dot]))[...]).split(separator: " ")
    // A function inside a function: "name #1".
    if words.count > 1, words.last!.hasPrefix("#") { words.removeLast() }
    var name = words.joined(separator: " ")
    // Distinguished from `init`: it is what allocates, so its caller is the place that made the object.
    let deinitializer = ".__deallocating_deinit"
    if name.hasSuffix(deinitializer) { name = name.dropLast(deinitializer.count) + ".deinit" }
    return (declaration.isStatic ? "static " : "") + string(declaration.extensions) + name
      + labels(declaration.arguments)
  }

  /// `(name: Swift.String, Swift.Int) async -> ()` as `(name:_:)`.
  private static func labels(_ text: ArraySlice<UInt8>) -> String {
    guard let end = closing(text, from: text.startIndex) else { return "" }
    var list = text[(text.startIndex + 1)..<end]
    if list.isEmpty { return "()" }
    // Short already.
    if list.last == UInt8(ascii: ":") { return string(text[...end]) }
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
}

extension FunctionName {
  /// `static (extension in App):Lib.(Owner in _1F)<A>.load(from: Swift.String) -> ()`, taken apart.
  private struct Declaration {
    private(set) var extender: ArraySlice<UInt8>?
    /// All of them, as they are written.
    private(set) var extensions: ArraySlice<UInt8> = []
    private(set) var isStatic = false
    private(set) var path: [[UInt8]] = [[]]
    private(set) var arguments: ArraySlice<UInt8> = []
    /// In square brackets.
    private var depth = 0

    private static let extensionStart = "(extension in "

    init(_ text: ArraySlice<UInt8>) {
      var rest = text
      for kind in ["static ", "class "] where FunctionName.starts(rest, kind) {
        isStatic = true
        rest = rest.dropFirst(kind.utf8.count)
      }
      let start = rest.startIndex
      // A type that another extension declares may be extended.
      while FunctionName.starts(rest, Self.extensionStart), let end = FunctionName.closing(rest, from: rest.startIndex)
      {
        extender = extender ?? rest[(start + Self.extensionStart.utf8.count)..<end]
        rest = rest[(end + 1)...].drop { $0 == UInt8(ascii: ":") }
      }
      extensions = text[start..<rest.startIndex]
      while let byte = rest.first, readPart(byte, &rest) {}
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) { path[path.count - 1].append(contentsOf: bytes) }

    /// Reads a bit of the name; false at its end.
    private mutating func readPart(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> Bool {
      let place = rest.startIndex
      if path[path.count - 1].isEmpty, path.count > 1, let end = FunctionName.endOfOperator(rest) {
        append(rest[..<end])
        rest = rest[end...]
        for fix in [" infix", " prefix", " postfix"] where FunctionName.starts(rest, fix) {
          rest = rest.dropFirst(fix.utf8.count)
        }
        return true
      }
      switch byte {
      case FunctionName.dot:
        path.append([])
      case FunctionName.open where FunctionName.starts(rest, Self.extensionStart):
        // After words of the compiler: "value witness for (extension in ...".
        guard let end = FunctionName.closing(rest, from: place) else { fallthrough }
        append(rest[...end])
        rest = rest[(end + 1)...]
        return true
      case FunctionName.open:
        guard let name = FunctionName.privateName(rest) else {
          arguments = rest
          return false
        }
        append(name.text)
        rest = rest[name.end...]
        return true
      case FunctionName.angle, FunctionName.tick:
        guard let end = FunctionName.closing(rest, from: place) else { fallthrough }
        if byte == FunctionName.tick { append(rest[...end]) }
        rest = rest[(end + 1)...]
        return true
      default:
        // "name.getter : Type", but not "[Key : Value].Index".
        if depth == 0, FunctionName.starts(rest, " : ") { return false }
        if byte == UInt8(ascii: "[") { depth += 1 }
        if byte == UInt8(ascii: "]") { depth -= 1 }
        append(rest.prefix(1))
      }
      rest = rest.dropFirst()
      return true
    }
  }

  // MARK: Text

  private static let open = UInt8(ascii: "(")
  private static let angle = UInt8(ascii: "<")
  private static let tick = UInt8(ascii: "`")
  private static let dot = UInt8(ascii: ".")

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

  /// `Name` of `(Name in _0123456789ABCDEF)`, and where that ends.
  private static func privateName(_ text: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, end: Int)? {
    guard let end = closing(text, from: text.startIndex),
      let mark = find(" in _", in: text[..<end]) ?? find(" in $", in: text[..<end])
    else { return nil }
    let name = text[..<mark].dropFirst()
    return name.contains(open) ? nil : (name, end + 1)
  }

  /// Where an operator that stands at the start ends; operators may look like brackets.
  private static func endOfOperator(_ text: ArraySlice<UInt8>) -> Int? {
    let end = text.firstIndex { !"/=-+!*%<>&|^~?.".utf8.contains($0) } ?? text.endIndex
    return end > text.startIndex ? end : nil
  }

  private static func closer(of bracket: UInt8) -> UInt8? {
    switch bracket {
    case open: UInt8(ascii: ")")
    case angle: UInt8(ascii: ">")
    case UInt8(ascii: "["): UInt8(ascii: "]")
    default: nil
    }
  }

  /// The bracket that closes the one at `start`; nil if there is no bracket at `start`, or it stays open.
  private static func closing(_ text: ArraySlice<UInt8>, from start: Int) -> Int? {
    guard start < text.endIndex else { return nil }
    // Raw identifiers may hold anything.
    if text[start] == tick { return text[(start + 1)...].firstIndex(of: tick) }
    guard closer(of: text[start]) != nil else { return nil }
    var expected: [UInt8] = []
    var position = start
    while position < text.endIndex {
      let byte = text[position]
      let isArrow = byte == UInt8(ascii: ">") && position > start && text[position - 1] == UInt8(ascii: "-")
      if byte == tick {
        position = closing(text, from: position) ?? position
      } else if let closer = closer(of: byte) {
        expected.append(closer)
      } else if !isArrow {
        // The runtime leaves out the end of "[Closure Propagated : ...".
        if byte == UInt8(ascii: ">"), let last = expected.lastIndex(where: { $0 != UInt8(ascii: "]") }),
          expected[last] == byte
        {
          expected.removeSubrange((last + 1)...)
        }
        if byte == expected.last { expected.removeLast() }
        if expected.isEmpty { return position }
      }
      position += 1
    }
    return nil
  }
}
