import UndeadReport

/// Names as they stand on a page.
enum Names {
  /// A field with its dot; what is no name in the source must not look like one.
  static func field(_ field: String) -> String {
    field.isEmpty || field.contains(" ") || "+[.".contains(field.prefix(1)) ? field : ".\(field)"
  }

  /// What a closure captures.
  static func captures(_ link: Chain.Link) -> String {
    "captures" + (link.captures.map { " \($0)" } ?? "")
  }

  /// The module of a type, and the rest of its name: ("App", "Cache<Swift.Int>").
  static func split(_ type: String) -> (module: String, name: String) {
    guard let dot = type.firstIndex(of: "."), dot != type.startIndex,
      type[..<dot].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
    else { return ("", type) }
    let name = type[type.index(after: dot)...]
    return name.isEmpty ? ("", type) : (String(type[..<dot]), String(name))
  }

  /// At most so many characters: the middle gives way.
  static func cut(_ text: String, to limit: Int) -> String {
    guard text.count > limit else { return text }
    let tail = limit / 3
    return text.prefix(limit - tail - 1) + "\u{2026}" + text.suffix(tail)
  }
}
