/// Turns edges into the references that a programmer sees: what the compiler makes between two objects (closure
/// contexts, boxes, element storage) is folded into the reference that leads through it.
final class ReferenceChain {
  private let snapshot: Snapshot

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
  }

  /// References along edges that follow each other. If no object is visible, every step is shown as it is.
  func references(_ edges: [Int], _ names: NodeNames, _ frames: FrameNames) -> [Reference] {
    let sources = edges.map { Int(snapshot.edges[$0].from) }
    let folds = sources.contains { names.role(of: $0).isVisible }
    var result: [Reference] = []
    var start = 0
    while start < edges.count {
      var end = start + 1
      while folds, end < edges.count, isFolded(sources[end], behind: sources[start], names) { end += 1 }
      result.append(reference(Array(edges[start..<end]), names, frames))
      start = end
    }
    return result
  }

  /// What the compiler makes between two objects, and what a library of ours keeps behind its own objects.
  private func isFolded(_ node: Int, behind start: Int, _ names: NodeNames) -> Bool {
    !names.role(of: node).isVisible || (names.isOwn(node) && names.isOwn(start))
  }

  /// One reference: an edge from a visible object, and those through what is folded into it.
  private func reference(_ edges: [Int], _ names: NodeNames, _ frames: FrameNames) -> Reference {
    let first = snapshot.edges[edges[0]]
    let type = snapshot.strings[first.declaredType]
    var result = Reference(
      type: names.type(of: Int(first.from)), field: names.label(of: edges[0]), fieldType: type.isEmpty ? nil : type,
      closure: frames.closure(at: first.function))
    if names.isOwn(Int(first.from)) { result.field = Self.innermost(result.field) ?? result.field }
    if result.field.isEmpty { result.field = "+\(first.offset)" }
    var function = first.function
    for edge in edges.dropFirst() {
      extend(&result, by: edge, of: function, names, frames)
      if snapshot.edges[edge].function != 0 { function = snapshot.edges[edge].function }
    }
    // The context of a closure that captures one object is that object, also where another closure captures this one.
    if let last = edges.last, snapshot.edges[last].function != 0,
      names.role(of: Int(snapshot.edges[last].to)) != .context
    {
      result.captures = frames.name(ofCapture: 0, at: function)
    }
    if let closure = result.closure, result.captures == nil, let last = edges.last,
      capturesSelf(closure, Int(snapshot.edges[last].to), names), isOnlyOneOfItsType(last, names), !isOptional(last)
    {
      result.captures = "self"
    }
    result.package = frames.packages.package(ofType: result.type)
    return result
  }

  private func extend(
    _ reference: inout Reference, by edge: Int, of function: UInt64, _ names: NodeNames, _ frames: FrameNames
  ) {
    let record = snapshot.edges[edge]
    let label = names.label(of: edge)
    switch names.role(of: Int(record.from)) {
    case .storage: append(label.isEmpty ? "[]" : label, to: &reference)
    case .context where label.hasPrefix(Self.captureLabel):
      reference.captures = Self.capture(label, frames.name(ofCapture: Self.number(label), at: function))
      // The box of a variable that is captured alone looks as the context itself. `self` is no optional.
      if let name = reference.captures, isOptional(edge), !name.hasPrefix("variable"), !name.contains(".") {
        reference.captures = "variable \(name)"
      }
    case .box, .context: append(Self.inside(label), to: &reference)
    case .toolchain: replaceField(of: &reference, by: record, label)
    default: break
    }
    // A closure that wraps another one (a thunk) says less than the one inside.
    if let inner = frames.closure(at: record.function) {
      if reference.closure == nil || inner.symbol.contains("closure #") { reference.closure = inner }
    }
  }

  private static func innermost(_ label: String) -> String? {
    label.split(separator: ".").last.map(String.init)
  }

  /// Of the fields inside of a library only the innermost with a name says something: "action.target", then "target".
  private func replaceField(of reference: inout Reference, by edge: Snapshot.Edge, _ label: String) {
    if let name = Self.innermost(label) { reference.field = name }
    let type = snapshot.strings[edge.declaredType]
    reference.fieldType = type.isEmpty ? nil : type
    reference.closure = nil
    reference.captures = nil
  }

  private static let captureLabel = "captured"

  /// What a closure captures, as far as it has a name: "captured 1.state.item" -> ".state.item", "captured variable 1"
  /// -> "variable".
  ///
  /// - Parameter name: of the variable, where debug information has it.
  private static func capture(_ label: String, _ name: String?) -> String? {
    let rest = label.dropFirst(captureLabel.count).drop { $0 == " " || $0.isNumber }
    if rest.hasPrefix("variable") {
      let path = rest.dropFirst("variable".count).drop { $0 == " " || $0.isNumber }
      return "variable" + (name.map { " \($0)" } ?? "") + path
    }
    switch name {
    case CapturedNames.structSelf? where !rest.isEmpty: return "self\(rest)"
    case CapturedNames.enumSelf?: return name
    case let name?: return name + rest
    case nil: return rest.isEmpty ? nil : String(rest)
    }
  }

  /// Position of what is captured: "captured variable 1.item" -> 1; there is no number where there is one capture alone.
  private static func number(_ label: String) -> Int {
    let rest = label.dropFirst(captureLabel.count).drop { !$0.isNumber && $0 != "." }
    return Int(rest.prefix { $0.isNumber }) ?? 0
  }

  /// The way inside of a boxed value, which has no name of its own: "value.left" -> ".left".
  private static func inside(_ label: String) -> String {
    let rest = label.hasPrefix("value") ? label.dropFirst("value".count) : label[...]
    return rest.hasPrefix("[") || rest.hasPrefix(".") ? String(rest) : ""
  }

  private func append(_ label: String, to reference: inout Reference) {
    guard !label.isEmpty else { return }
    let text = label.hasPrefix("[") || label.hasPrefix(".") ? label : "." + label
    if let captures = reference.captures { reference.captures = captures + text } else { reference.field += text }
  }

  /// What else a context captures strongly, by edge.
  func otherCaptures(besides edge: Int, _ names: NodeNames) -> [Int] {
    let context = snapshot.edges[edge].from
    guard names.role(of: Int(context)) == .context else { return [] }
    let first = snapshot.edges.partitioningIndex { $0.from >= context }
    return snapshot.edges[first...].indices.prefix { snapshot.edges[$0].from == context }.filter {
      snapshot.edges[$0].isStrong && snapshot.edges[$0].to != snapshot.edges[edge].to
    }
  }

  /// Name of what a closure captures, as far as it is known; else its type.
  func captureName(_ edge: Int, of function: UInt64, _ names: NodeNames, _ frames: FrameNames) -> String {
    let label = names.label(of: edge)
    return Self.capture(label, frames.name(ofCapture: Self.number(label), at: function))
      ?? TypeName.unspecialized(names.type(of: Int(snapshot.edges[edge].to)))
  }

  /// Where a closure captures two objects of one type, either may be `self`.
  private func isOnlyOneOfItsType(_ edge: Int, _ names: NodeNames) -> Bool {
    let type = names.type(of: Int(snapshot.edges[edge].to))
    return !otherCaptures(besides: edge, names).contains { names.type(of: Int(snapshot.edges[$0].to)) == type }
  }

  private func isOptional(_ edge: Int) -> Bool {
    snapshot.edges[edge].function == 0
      && snapshot.strings[snapshot.edges[edge].declaredType].hasPrefix("Swift.Optional<")
  }

  /// True if what a closure leads to is an object of the type in whose member the closure stands.
  private func capturesSelf(_ closure: Frame, _ end: Int, _ names: NodeNames) -> Bool {
    guard let type = SymbolText.enclosingType(ofClosure: closure.symbol) else { return false }
    let name = names.type(of: end).prefix { $0 != "<" }
    return name == type || name.hasSuffix("." + type)
  }
}
