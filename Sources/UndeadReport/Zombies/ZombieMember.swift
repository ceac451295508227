/// Names of methods and fields as a message tells them: without the module and what the compiler put around them.
enum ZombieMember {
  private static let wrappers = [
    "protocol witness for ", "async function pointer to ", "vtable thunk for ", "override ",
    "reabstraction thunk helper for ",
    "default override of ", "coro function pointer to ", "async suspend resume partial function for ",
    "suspend resume partial function for ", "method descriptor for ", "@objc ", "non-virtual ",
  ]

  /// "App.Poller.tick()" as "Poller.tick()"; an accessor as "Model.level".
  static func method(_ symbol: String) -> String {
    var text = SymbolText.withoutThunks(symbol)
    var changed = true
    while changed {
      changed = false
      for wrapper in wrappers where text.hasPrefix(wrapper) {
        text = SymbolText.withoutThunks(String(text.dropFirst(wrapper.count)))
        changed = true
      }
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

  private static let accessors = [
    ".getter", ".setter", ".modify", ".modify2", ".read", ".read2", ".unsafeAddressor", ".unsafeMutableAddressor",
  ]

  private static func withoutAccessor(_ text: String) -> String {
    for accessor in accessors where text.hasSuffix(accessor) { return String(text.dropLast(accessor.count)) }
    return text
  }

  /// A name without the module in front of it; generic arguments keep theirs.
  static func withoutModule(_ name: String) -> String {
    let head = name.prefix { $0 != "<" && $0 != "(" && $0 != " " }
    guard let dot = head.firstIndex(of: "."), head.index(after: dot) < head.endIndex else { return name }
    return String(name[name.index(after: dot)...])
  }
}
