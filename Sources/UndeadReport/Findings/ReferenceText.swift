extension Finding {
  /// How many references there are and whose they are, in one sentence; nil where the drawn references say it all.
  package var referenceText: String? {
    guard var references else { return nil }
    addDrawn(to: &references)
    switch (kind, cause) {
    case (.leak, Leak.Kind.abandoned.rawValue), (.suspect, _):
      if references.total == 1, references.found == 1 { return nil }
    case (_, Leak.Kind.unreferenced.rawValue):
      // That it was retained once too often is reported anyway.
      if references.total == 1 { return nil }
    default:
      // The drawn references are some. Where none was found, the fields are not all understood.
      if references.found == references.total || references.found == 0 { return nil }
    }
    var parts = references.holders.prefix(3).map { holder in
      "`\(holder.field)` of \(holder.type)" + (holder.count == 1 ? "" : " (\(holder.count))")
    }
    let listed = references.holders.prefix(3).total(\.count)
    if listed < references.found { parts.append("\(references.found.minus(listed)) more that were found") }
    let missing = references.total.minus(references.found)
    if missing > 0 { parts.append("\(missing) " + missingText(references.candidates ?? [], missing == 1)) }
    let object = references.type.map { " to \($0)" } ?? ""
    return "\(references.total)\(object), \(references.found) found: " + parts.joined(separator: ", ")
  }

  /// A field may have a name and no type that the scan knows, as in a `Mutex`. Its reference is drawn and was not counted: it
  /// is the one that only such memory has.
  private func addDrawn(to references: inout ReferenceCount) {
    guard references.candidates == ["memory"], references.total == references.found.plus(1),
      let link = chains.first(where: { $0.role == .path })?.links.last, link.from != "Task", !link.field.hasPrefix("+")
    else { return }
    let field = NodeNames.withoutIndices(link.field)
    guard !references.holders.contains(where: { $0.type == link.from && NodeNames.withoutIndices($0.field) == field })
    else { return }
    references.found = references.found.plus(1)
    references.holders.append(.init(type: link.from, field: link.field, count: 1))
    references.candidates = nil
  }

  /// True if a waiting task is part of it: what the frames of asynchronous functions own is in no record.
  private var hasFrames: Bool {
    alsoLeaked.contains { $0.type == NodeNames.asyncFrames }
      || chains.contains { $0.links.contains { $0.from == "Task" } }
  }

  private func missingText(_ candidates: [String], _ isOne: Bool) -> String {
    if hasFrames, [[], ["memory"]].contains(candidates) { return "most likely by the frames of the waiting task" }
    guard !candidates.isEmpty else {
      return "by nobody: \(isOne ? "a retain" : "retains") without a release (Unmanaged, or C code that got the object)"
    }
    let names = ["global": "a global variable", "thread": "a thread's stack", "memory": "memory of no known type"]
    let owners = candidates.map { names[$0] ?? $0 }
    return "that no field has, where " + owners.joined(separator: " and ")
      + (owners.count == 1 ? " names it" : " name it")
  }
}
