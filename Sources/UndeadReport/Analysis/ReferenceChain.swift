/// Turns edges into the references that a programmer sees: what the compiler makes between two objects (closure
/// contexts, boxes, element storage) is folded into the reference that leads through it.
struct ReferenceChain {
  private let snapshot: Snapshot

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
  }

  /// References along edges that follow each other. If no object is visible, every step is shown as it is.
  func references(_ edges: [Int], _ names: NodeNames, _ frames: inout FrameNames) -> [Reference] {
    let sources = edges.map { Int(snapshot.edges[$0].from) }
    let folds = sources.contains { names.role(of: $0).isVisible }
    var result: [Reference] = []
    var start = 0
    while start < edges.count {
      var end = start + 1
      while folds, end < edges.count, !names.role(of: sources[end]).isVisible { end += 1 }
      result.append(reference(Array(edges[start..<end]), names, &frames))
      start = end
    }
    return result
  }

  /// One reference: an edge from a visible object, and those through what is folded into it.
  private func reference(_ edges: [Int], _ names: NodeNames, _ frames: inout FrameNames) -> Reference {
    let first = snapshot.edges[edges[0]]
    let type = snapshot.strings[first.declaredType]
    var result = Reference(
      type: names.type(of: Int(first.from)), field: names.label(of: edges[0]), fieldType: type.isEmpty ? nil : type,
      closure: frames.closure(at: first.function))
    if result.field.isEmpty { result.field = "word at +\(first.offset)" }
    for edge in edges.dropFirst() { extend(&result, by: edge, names, &frames) }
    if result.captures == nil, let closure = result.closure, let last = edges.last {
      result.captures = capture(of: closure, end: Int(snapshot.edges[last].to), names)
    }
    return result
  }

  private func extend(_ reference: inout Reference, by edge: Int, _ names: NodeNames, _ frames: inout FrameNames) {
    let record = snapshot.edges[edge]
    let label = names.label(of: edge)
    switch names.role(of: Int(record.from)) {
    case .storage:
      append(label.isEmpty ? "[]" : label, to: &reference)
    case .context where label.hasPrefix(Self.capturePrefix):
      reference.captures = String(label.dropFirst(Self.capturePrefix.count))
    case .box, .context:
      // The value in a box has no name of its own.
      if label.hasPrefix("[") || label.hasPrefix(".") { append(label, to: &reference) }
    default:
      break
    }
    // A closure that wraps another one (a thunk) says less than the one inside.
    if let inner = frames.closure(at: record.function) {
      if reference.closure == nil || inner.symbol.contains("closure #") { reference.closure = inner }
    }
  }

  private static let capturePrefix = "captured "

  private func append(_ label: String, to reference: inout Reference) {
    let text = label.hasPrefix("[") || label.hasPrefix(".") ? label : "." + label
    if let captures = reference.captures { reference.captures = captures + text } else { reference.field += text }
  }

  /// A closure that captures one object has no context: what it captures is known only by the object's type.
  private func capture(of closure: Frame, end: Int, _ names: NodeNames) -> String? {
    guard let type = SymbolText.enclosingType(ofClosure: closure.symbol) else { return nil }
    let name = names.type(of: end).prefix { $0 != "<" }
    return name == type || name.hasSuffix("." + type) ? "self" : nil
  }
}
