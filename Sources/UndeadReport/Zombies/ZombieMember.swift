/// Names of methods and fields as a message shows them: without the module and what the compiler put around them.
enum ZombieMember {
  /// "App.Poller.tick()" as "Poller.tick()"; an accessor as "Model.level".
  static func method(_ symbol: String) -> String {
    var text = FunctionName.withoutThunks(symbol)
    if text.hasPrefix(FunctionName.witness) {
      text = FunctionName.withoutThunks(String(text.dropFirst(FunctionName.witness.count)))
    }
    if let conformance = text.firstRange(of: " in conformance ") {
      text = witness(String(text[..<conformance.lowerBound]), String(text[conformance.upperBound...]))
    }
    let isOfType = text.hasPrefix("static ")
    if isOfType { text.removeFirst("static ".count) }
    return withoutModule(withoutAccessor(withoutExtension(text)))
  }

  /// A requirement of a protocol as a member of the type that conforms to it.
  private static func witness(_ requirement: String, _ conformance: String) -> String {
    let type = conformance.prefix { $0 != " " && $0 != ":" }
    let parts = requirement.split(separator: "(", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = parts.first?.split(separator: ".").dropFirst(2).joined(separator: "."), !name.isEmpty else {
      return requirement
    }
    return "\(type).\(name)" + (parts.count > 1 ? "(" + parts[1] : "")
  }

  private static func withoutExtension(_ text: String) -> String {
    guard text.hasPrefix("(extension in "), let end = text.firstRange(of: "):") else { return text }
    return String(text[end.upperBound...])
  }

  private static func withoutAccessor(_ text: String) -> String {
    guard let dot = text.lastIndex(of: "."), FunctionName.accessors.contains(String(text[text.index(after: dot)...]))
    else { return text }
    return String(text[..<dot])
  }

  /// A name without the module in front of it; generic arguments keep theirs.
  static func withoutModule(_ name: String) -> String {
    let head = name.prefix { $0 != "<" && $0 != "(" && $0 != " " }
    guard let dot = head.firstIndex(of: "."), head.index(after: dot) < head.endIndex else { return name }
    return String(name[name.index(after: dot)...])
  }
}
