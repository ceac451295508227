/// Names, roles and hashes of the nodes and fields of a snapshot, each made once.
package final class NodeNames {
  private struct TypeFacts {
    var name: String
    var hash: StableHash
    var role: NodeRole
    var isOfProgram: Bool
    var isOwn: Bool
    var isOfPackage: Bool
  }

  /// What the text of a field says.
  private struct LabelFacts {
    var hash: StableHash
    var backRank: Int
    var isLazy: Bool

    init(_ text: String) {
      let name = NodeNames.label(text)
      hash = StableHash(NodeNames.withoutIndices(text))
      backRank = FieldName.backRank(name)
      isLazy = !name.isEmpty && name != text
    }
  }

  private let snapshot: Snapshot
  private let types: [TypeFacts]
  private let labels: [LabelFacts]
  /// Position in `labels` of each edge's.
  private let labelOfEdge: [Int32]

  package static let rawMemory = "raw memory"
  private static let rawMemoryHash = StableHash(rawMemory)
  package static let foreignMemory = "C memory"
  /// What the instrument calls a closure in the sense of C.
  package static let closureOfC = "C block"
  /// What the instrument calls the memory of tasks for frames (foreign.c).
  package static let asyncFrames = "async frames"

  /// Whether a dispatch source owns what the field leads to, its handlers (foreign.c). Tables of libdispatch, as its heap of timers,
  /// lead there as well, and own nothing of it.
  package static func isFieldOfSource(_ label: String, of type: String) -> Bool {
    label == "refs" && type == "dispatch source"
  }

  init(_ snapshot: Snapshot, _ packages: Packages = Packages()) {
    self.snapshot = snapshot
    var texts: [StringID: String] = [:]
    types = snapshot.types.map { type in
      let text = texts[type.name] ?? Self.clean(snapshot.strings[type.name])
      texts[type.name] = text
      let name = text.isEmpty ? Self.fallback(for: type.kind) : text
      let role = Self.role(of: type, name: name)
      return TypeFacts(
        name: name, hash: StableHash(name), role: role, isOfProgram: type.isOfProgram,
        isOwn: OwnLibraries.declare(name), isOfPackage: packages.package(ofType: name) != nil)
    }
    (labels, labelOfEdge) = Self.readLabels(snapshot)
  }

  /// Name and role of a type, as reports tell them.
  package static func describe(_ type: Snapshot.TypeRecord, _ strings: StringTable) -> (name: String, role: NodeRole) {
    let text = clean(strings[type.name])
    let name = text.isEmpty ? fallback(for: type.kind) : text
    return (name, role(of: type, name: name))
  }

  /// Name of a field as reports show it; empty where only its offset is known.
  package static func field(_ label: String) -> String { Self.label(label) }

  private static func readLabels(_ snapshot: Snapshot) -> ([LabelFacts], [Int32]) {
    var labels: [LabelFacts] = []
    var known: [StringID: Int32] = [:]
    var element: Int32?
    var last: (id: StringID, label: Int32)?
    func add(_ text: String) -> Int32 {
      labels.append(LabelFacts(text))
      return Int32(labels.count - 1)
    }
    let labelOfEdge = snapshot.edges.map { edge in
      if let last, last.id == edge.label { return last.label }
      if let label = known[edge.label] {
        last = (edge.label, label)
        return label
      }
      // The elements of an array have a label each, and may be a million.
      if snapshot.strings.isElement(edge.label) {
        let label = element ?? add("[]")
        element = label
        return label
      }
      let label = add(snapshot.strings[edge.label])
      known[edge.label] = label
      return label
    }
    return (labels, labelOfEdge)
  }

  /// Name of the type of a node.
  func type(of node: Int) -> String {
    let record = snapshot.nodes[node]
    if record.state == .raw { return Self.rawMemory }
    return record.type == Snapshot.none ? Self.foreignMemory : types[Int(record.type)].name
  }

  /// Names of the types of nodes; for many nodes of few types.
  func types(of nodes: [Int]) -> Set<String> {
    var seen: Set<Snapshot.Index> = []
    // Raw memory has a name of its own, whatever its type.
    let few = nodes.filter { node in
      let record = snapshot.nodes[node]
      return seen.insert(record.state == .raw ? Snapshot.none - 1 : record.type).inserted
    }
    return Set(few.map(type))
  }

  /// Role of a node.
  func role(of node: Int) -> NodeRole {
    let record = snapshot.nodes[node]
    if record.state == .raw || record.type == Snapshot.none { return .memory }
    return types[Int(record.type)].role
  }

  /// True if the node's type is declared by the program.
  func isOfProgram(_ node: Int) -> Bool {
    let record = snapshot.nodes[node]
    return record.state != .raw && record.type != Snapshot.none && types[Int(record.type)].isOfProgram
  }

  /// True for an object of a type that the user declares, not a dependency.
  func isOfUser(_ node: Int) -> Bool {
    role(of: node) == .program && !types[Int(snapshot.nodes[node].type)].isOfPackage
  }

  /// True if the node's type is one of this package's libraries.
  func isOwn(_ node: Int) -> Bool {
    let record = snapshot.nodes[node]
    return record.state != .raw && record.type != Snapshot.none && types[Int(record.type)].isOwn
  }

  /// Hash of the type, the same in every run; one for all blocks that are not shown.
  func typeHash(of node: Int) -> StableHash {
    let record = snapshot.nodes[node]
    guard record.state != .raw, record.type != Snapshot.none else { return StableHash() }
    let type = types[Int(record.type)]
    return type.role.isVisible ? type.hash : StableHash()
  }

  /// Hash of the name of the type, also of blocks that are not shown.
  func nameHash(of node: Int) -> StableHash {
    let record = snapshot.nodes[node]
    if record.state == .raw { return Self.rawMemoryHash }
    return record.type == Snapshot.none ? StableHash() : types[Int(record.type)].hash
  }

  /// Hash of the field of a reference, the same for all elements of a collection.
  func labelHash(of edge: Int) -> StableHash { labels[Int(labelOfEdge[edge])].hash }

  /// The hashes of all fields, and which of them each reference has.
  var labelHashes: (hashes: [StableHash], ofEdge: [Int32]) { (labels.map(\.hash), labelOfEdge) }

  /// Name of the field of a reference; empty where none is known.
  func label(of edge: Int) -> String { Self.label(snapshot.strings[snapshot.edges[edge].label]) }

  private static func label(_ text: String) -> String {
    if text.utf8.first == UInt8(ascii: "+") { return "" }
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "$") }) else { return text }
    return text.replacing(lazyMark, with: "").replacing(lazyPrefix, with: "")
  }

  /// True if a name of the field is known; where none is, the label is the offset.
  func hasLabel(_ edge: Int) -> Bool {
    let label = snapshot.edges[edge].label
    return label != 0 && !snapshot.strings.starts(label, with: UInt8(ascii: "+"))
  }

  /// True for the storage of a lazy property.
  func isLazy(_ edge: Int) -> Bool { labels[Int(labelOfEdge[edge])].isLazy }

  /// How much the name of the field says for a reference back to what holds the object.
  func backRank(_ edge: Int) -> Int { labels[Int(labelOfEdge[edge])].backRank }

  /// How the instrument marks a lazy property, and how the compiler does.
  private static let lazyMark = " (lazy)"
  static let lazyPrefix = "$__lazy_storage_$_"

  private static func fallback(for kind: Snapshot.Kind) -> String {
    switch kind {
    case .object: "unknown class"
    case .context: "closure context"
    case .genericBox: "box"
    case .errorBox: "error"
    case .task: "Task"
    case .job: "job"
    case .sideTable: "weak reference table"
    default: foreignMemory
    }
  }

  /// Storage of the collections of Swift.
  static func isStorage(_ type: String) -> Bool { storageTypes.contains(where: type.hasPrefix) }

  private static let storageTypes = [
    "Swift._ContiguousArrayStorage", "Swift._DictionaryStorage", "Swift._SetStorage",
  ]

  private static func role(of type: Snapshot.TypeRecord, name: String) -> NodeRole {
    switch type.kind {
    case .object where isStorage(name): .storage
    case .object: type.isOfProgram ? .program : .toolchain
    case .context: .context
    case .genericBox, .errorBox: .box
    case .task: .task
    // What libdispatch makes for the program, as opposed to what it passes work around in.
    case .other where name.hasPrefix("dispatch ") && name != "dispatch continuation": .toolchain
    default: .memory
    }
  }

  /// Takes out what the runtime puts into the names of private and local types and that changes with each run, and
  /// where in the toolchain a type is declared.
  static func clean(_ name: String) -> String {
    var result = name.replacing("(extension in Foundation):", with: "")
    while let start = result.firstRange(of: "(unknown context at $") {
      guard let close = result[start.upperBound...].firstIndex(of: ")") else { break }
      var end = result.index(after: close)
      if end < result.endIndex, result[end] == "." { end = result.index(after: end) }
      result.removeSubrange(start.lowerBound..<end)
    }
    return result
  }

  /// Replaces `[12]` by `[]`: which element it is differs from run to run.
  static func withoutIndices(_ label: String) -> String {
    var result = ""
    var depth = 0
    for character in label {
      if character == "]" { depth -= 1 }
      if depth <= 0 { result.append(character) }
      if character == "[" { depth += 1 }
    }
    return result
  }
}
