/// What the name of a field says about its meaning.
enum FieldName {
  /// Words in the names of fields that refer to who made or owns the object.
  private static let backWords: Set<String> = [
    "delegate", "parent", "owner", "superview", "target", "listener", "previous", "prev", "back", "observer",
    "enclosing",
    "outer", "up",
  ]

  /// Words that as often name what the object owns.
  private static let ambiguousWords: Set<String> = [
    "container", "presenter", "coordinator", "source", "host", "manager", "controller", "context", "tree", "document",
    "session", "router", "root",
  ]

  /// Words in the names of fields that own what they refer to.
  private static let ownWords: Set<String> = [
    "child", "children", "next", "downstream", "downstreams", "upstream", "subscription", "subscriptions", "items",
    "elements", "values", "entries", "storage", "buffer", "cache", "tail", "worker", "workers", "task", "tasks",
    "timer", "subviews",
  ]

  /// What the toolchain's own fields are called in programs, by the beginnings of their types.
  private static let ofToolchain: [String: (types: [String], name: String)] = [
    "__completion": ([""], "completionBlock"),  // of operations, which programs make subclasses of
    "__dependencies": ([""], "dependencies"),
    "_block": (["Foundation.BlockOperation", "Dispatch.DispatchWorkItem"], "block"),
    "_fire": (["Foundation.Timer"], "block"),
    "_main": (["Foundation.Thread"], "block"),
    "_value": (["Swift._AsyncStreamCriticalStorage<"], "unfolding"),
    "state": (["Swift.AsyncStream<", "Swift.AsyncThrowingStream<"], "onTermination"),
  ]

  /// What a field of the toolchain is called in programs; others are what they are called.
  static func shown(_ field: String, of type: String) -> String {
    let whole = field.prefix { $0 != "[" }
    if let name = ofToolchain[String(whole)], name.types.contains(where: type.hasPrefix) {
      return name.name + field[whole.endIndex...]
    }
    if isOfWrapper(field) { return String(field.dropFirst().replacing(".wrappedValue", with: "", maxReplacements: 1)) }
    if type == "dispatch io", field == "registered closure" { return "read or write" }
    guard field.hasPrefix("+") else { return field }
    if type == "dispatch group" { return "notify block" }
    if type.hasPrefix("dispatch queue") { return "waiting block" }
    if type == "dispatch io" { return "descriptor" }
    return KnownTypes.isKeyPath(type) ? "argument" : field
  }

  /// Whether it is what a property wrapper holds: `_name.wrappedValue` is `name` to who wrote it.
  static func isOfWrapper(_ field: String) -> Bool {
    field.hasPrefix("_") && field.drop { $0 != "." && $0 != "[" }.hasPrefix(".wrappedValue")
  }

  /// True for `children`, `nextNode`, `downstream`: a reference that is meant to own.
  static func isOwning(_ field: String) -> Bool { hasWord(field, of: ownWords) }

  /// True for `delegate` and `dataSource`, which by convention never own.
  static func isDelegate(_ field: String) -> Bool {
    hasWord(field, of: ["delegate"]) || field.hasSuffix("dataSource")
  }

  /// How much the name of a field says for a reference back to what holds the object: 2 for `delegate`, `dataSource`,
  /// `state.parentNode`, 1 for `session`, 0 for others.
  static func backRank(_ field: String) -> Int {
    guard !field.hasSuffix("]") else { return 0 }
    return isDelegate(field) || hasWord(field, of: backWords) ? 2 : hasWord(field, of: ambiguousWords) ? 1 : 0
  }

  /// True if the first or last word of a field's name is one of these.
  private static func hasWord(_ field: String, of words: Set<String>) -> Bool {
    let field = String(field.prefix { $0 != "[" })
    let name = field.split(separator: ".").last.map(String.init) ?? field
    let lastWord = name.lastIndex { $0.isUppercase }.map { name[$0...].lowercased() } ?? name
    let firstWord = String(name.drop { $0 == "_" }.prefix { !$0.isUppercase })
    return words.contains(lastWord) || words.contains(firstWord)
  }
}

extension LeakReport.Reference {
  /// What the programmer calls the field. A stream's state is what ends it, if that is a closure; else it is tasks and elements.
  var fieldName: String {
    field.prefix { $0 != "[" } == "state" && !holdsClosure ? field : FieldName.shown(field, of: type)
  }
}
