import UndeadReport

extension LoadedHeap {
  /// The shortest way from a root to a block, as reports tell it: what the compiler makes between two objects is folded
  /// into the field that leads through it.
  package func retainPath(to block: Int, _ frames: FrameNames) -> [PathStep] {
    let (root, all) = paths.toldPath(to: block)
    var edges = all[...]
    let roles = Dictionary(edges.map { ($0, role(ofSource: $0)) }) { first, _ in first }
    let isFolding = roles.values.contains { $0.isVisible }
    // C blocks between the root and the first object that has a name tell nothing.
    while isFolding, let first = edges.first, roles[first]?.isVisible != true { edges.removeFirst() }
    var steps: [PathStep] = []
    for edge in edges {
      let role = roles[edge] ?? .memory
      if isFolding, !role.isVisible, !steps.isEmpty {
        extend(&steps[steps.count - 1], by: edge, role, frames)
      } else {
        steps.append(step(edge, frames))
      }
    }
    steps.append(PathStep(type: typeName(block), field: ""))
    let (kind, name) = self.root(ofNode: root)
    steps[0].root = PathStep.Root(kind: kind, name: name, evidence: paths.worth(of: block).evidence)
    return steps
  }

  private func role(ofSource edge: Int) -> NodeRole {
    let place = graph.place(edge)
    let group = types.groups[Int(types.holder(of: place))]
    return group.storage == nil ? group.role : .storage
  }

  private func step(_ edge: Int, _ frames: FrameNames) -> PathStep {
    let place = graph.place(edge)
    let type = file.snapshot.strings[place.declaredType]
    return PathStep(
      type: types.groups[Int(types.holder(of: place))].name, field: field(edge), fieldType: type.isEmpty ? nil : type,
      closure: frames.closure(at: place.function))
  }

  private func extend(_ step: inout PathStep, by edge: Int, _ role: NodeRole, _ frames: FrameNames) {
    let place = graph.place(edge)
    let label = NodeNames.field(file.snapshot.strings[place.label])
    let captured = "captured "
    if role == .context, label.hasPrefix(captured) {
      step.captures = String(label.dropFirst(captured.count))
    } else if role == .storage {
      append(label.isEmpty || label.hasPrefix("_") ? "[]" : label, to: &step)
    } else if role != .memory {
      append(label, to: &step)
    }
    if step.closure == nil { step.closure = frames.closure(at: place.function) }
  }

  private func append(_ label: String, to step: inout PathStep) {
    guard !label.isEmpty, label != "[]" || !step.field.hasSuffix("[]") else { return }
    step.field += step.field.isEmpty || label.hasPrefix("[") ? label : ".\(label)"
  }
}
