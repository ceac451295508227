/// What the name of a field says about its meaning.
enum FieldName {
  /// Words in the names of fields that refer to who made or owns the object.
  private static let backWords: Set<String> = [
    "delegate", "parent", "owner", "superview", "container", "presenter", "coordinator", "source", "target", "listener",
    "previous", "prev", "back", "host", "manager", "controller", "observer", "context", "enclosing", "outer", "tree",
    "document", "session", "router", "up", "root",
  ]

  /// True for `delegate`, `dataSource`, `state.parentNode`...: a reference back to what holds the object.
  static func isBackReference(_ field: String) -> Bool {
    guard !field.hasSuffix("]") else { return false }
    let name = field.split(separator: ".").last.map(String.init) ?? field
    let lastWord = name.lastIndex { $0.isUppercase }.map { name[$0...].lowercased() } ?? name
    let firstWord = String(name.drop { $0 == "_" }.prefix { !$0.isUppercase })
    return backWords.contains(lastWord) || backWords.contains(firstWord)
  }
}
