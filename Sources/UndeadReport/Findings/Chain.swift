/// References one after the other: a cycle, or a path from a root to an object.
package struct Chain: Sendable, Equatable {
  /// What it is in the finding.
  package enum Role: String, Sendable {
    /// From a root, or from what nothing refers to, to the object.
    case path
    /// Back to where it begins.
    case cycle
    /// From the object back to what holds it.
    case holdsBack
    /// A cycle among what hangs off a leak.
    case innerCycle
  }

  /// What it is in the finding.
  package var role: Role
  /// The text before it.
  package var introduction: String?
  /// What holds the first object; nil if nothing does.
  package var root: Root?
  /// The references in order; empty for an object that a root holds itself.
  package var links: [Link] = []
  /// Type of the first object; nil if only the root is shown, or what the root's text says.
  package var start: String?
  /// So many references are left out in the middle.
  package var omitted = 0

  /// A root as text.
  package struct Root: Sendable, Equatable {
    /// `global`, `stack`, `threadLocal`, `register`, `runLoop` or `task`.
    package var kind: String
    /// Its name, or what a run loop holds in which modes; empty if none is known.
    package var text: String
    /// How many of the references to the first object it owns, as far as that is known; empty if it is not.
    package var owners = ""
  }

  /// A reference of a chain.
  package struct Link: Sendable, Equatable {
    /// Type of the object that holds the reference.
    package var from: String
    /// Field, `children[2]`; `+24` or `async frame` where no name of the source is known.
    package var field: String
    /// Declared type of the field.
    package var fieldType: String?
    /// True if the field holds a closure, even where its function is not known.
    package var holdsClosure = false
    /// Function of the closure.
    package var closure: Frame?
    /// What the closure captures: `self`, `a variable`; nil if it has no name.
    package var captures: String?
    /// Type of the object that it leads to.
    package var to: String
    /// True for the reference that is to blame.
    package var isCulprit = false

    /// The field as texts write it: with a dot before what is a name in the source.
    package var fieldText: String {
      field.contains(" ") || "+[".contains(field.prefix(1)) ? field : ".\(field)"
    }
  }

  /// True if the last reference leads back to the first object.
  package var isClosed: Bool { role == .cycle || role == .innerCycle }
}

extension Chain {
  /// References to the object at their end.
  ///
  /// - Parameter culprit: position of the reference that is to blame.
  init(
    role: Role, _ references: [Reference], end: String, culprit: Int? = nil, introduction: String? = nil
  ) {
    self.role = role
    self.introduction = introduction
    start = references.first?.type ?? end
    links = references.indices.map { number in
      let next = number + 1 < references.count ? references[number + 1].type : end
      return Link(references[number], to: next, isCulprit: number == culprit)
    }
  }

  /// References back to the first object.
  init(
    cycle: [Reference], culprit: Int? = nil, role: Role = .cycle, introduction: String? = nil, omitted: Int = 0
  ) {
    self.init(
      role: role, cycle, end: cycle.first?.type ?? "", culprit: culprit, introduction: introduction)
    self.omitted = max(0, omitted)
  }

  /// From a root to the object at the end of the path, which must not be empty.
  package init(path: [PathStep], culprit: Int? = nil) {
    let references = path.dropLast().map(\.reference)
    self.init(role: .path, references, end: path.last?.type ?? "", culprit: culprit)
    root = path.first.flatMap(Root.init)
    // What a run loop holds stands in the line of the root.
    if root?.kind == "runLoop", path.count > 1 { start = nil }
  }

  /// A retain path as text; nil for an empty one.
  package init?(retainPath path: [PathStep]) {
    guard !path.isEmpty else { return nil }
    self.init(path: path)
    // An array of closures is none: only what is known to lead through one is shown so.
    for number in links.indices where links[number].closure == nil && links[number].captures == nil {
      links[number].holdsClosure = false
    }
  }
}

extension Chain.Link {
  init(_ reference: Reference, to end: String, isCulprit: Bool) {
    self.init(
      from: reference.type, field: reference.fieldName, fieldType: reference.fieldType,
      holdsClosure: reference.holdsClosure, closure: reference.closure,
      captures: reference.captures.map { $0 == "variable" ? "a variable" : $0 }, to: end, isCulprit: isCulprit)
  }
}

extension Chain.Root {
  /// The root that the first step of a path starts from.
  init?(_ step: PathStep) {
    guard let root = step.root else { return nil }
    guard root.kind == "runLoop" else {
      let owners = Self.owners(root, of: step.type)
      let caution = PathWorth.caution(root.evidence).map { ", \($0)" } ?? ""
      self.init(kind: root.kind, text: root.name, owners: owners.isEmpty ? caution : owners)
      return
    }
    var parts = ["run loop" + (root.name.isEmpty ? "" : " \"\(root.name)\"")]
    if let mode = step.mode { parts.append((mode.contains(",") ? "modes " : "mode ") + mode) }
    if let item = step.item { parts.append(item + (step.name.map { " \"\($0)\"" } ?? "")) }
    self.init(kind: root.kind, text: parts.joined(separator: " \u{2192} "))
  }

  /// How many of the references to an object a thread owns, as far as that is known.
  private static func owners(_ root: PathStep.Root, of type: String) -> String {
    guard let references = root.references, let owned = root.owned else { return "" }
    let all = references == 1 ? "the only reference" : "the \(references) references"
    return switch (owned, root.shared ?? false) {
    case (0, _) where references == 1: ", which does not own \(all) to \(type)"
    case (0, _): ", which owns none of \(all) to \(type)"
    case (_, true) where references == 1: ": it, or what else names it, owns \(all) to \(type)"
    case (_, true): ": it, or what else names it, owns \(owned) of \(all) to \(type)"
    case (1, _) where references == 1: ", which owns \(all) to \(type)"
    case (references, _): ", which owns all \(references) references to \(type)"
    default: ", which owns \(owned) of \(all) to \(type)"
    }
  }

  /// How texts head it: `global`, `thread-local`.
  package var kindText: String { kind == "threadLocal" ? "thread-local" : kind }
}
