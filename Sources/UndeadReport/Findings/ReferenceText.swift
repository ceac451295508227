extension Finding {
  /// How many references there are and whose they are, in one sentence; nil where the drawn references say it all.
  public var referenceText: String? {
    guard let references else { return nil }
    switch (kind, cause) {
    case (.leak, Leak.Kind.abandoned.rawValue), (.suspect, _):
      if references.total == 1, references.found == 1 { return nil }
    case (_, Leak.Kind.unreferenced.rawValue):
      // That it was retained once too often is said anyway.
      if references.total == 1 { return nil }
    default:
      // The drawn references are some. Where none was found, the fields are not all understood.
      if references.found == references.total || references.found == 0 { return nil }
    }
    var parts = references.holders.prefix(3).map { holder in
      "`\(holder.field)` of \(holder.type)" + (holder.count == 1 ? "" : " (\(holder.count))")
    }
    let told = references.holders.prefix(3).reduce(0) { $0 + $1.count }
    if told < references.found { parts.append("\(references.found - told) more that were found") }
    let missing = references.total - references.found
    if missing > 0 { parts.append("\(missing) " + missingText(references.candidates ?? [], missing == 1)) }
    let object = references.type.map { " to \($0)" } ?? ""
    return "\(references.total)\(object), \(references.found) found: " + parts.joined(separator: ", ")
  }

  private func missingText(_ candidates: [String], _ isOne: Bool) -> String {
    guard !candidates.isEmpty else {
      // What the frames of asynchronous functions own is in no record.
      if alsoLeaked.contains(where: { $0.type == "async frames" }) {
        return "most likely by the frames of the waiting task"
      }
      return "by nobody: \(isOne ? "a retain" : "retains") without a release (Unmanaged, or C code that got the object)"
    }
    let names = ["global": "a global variable", "thread": "a thread's stack", "memory": "memory of no known type"]
    let owners = candidates.map { names[$0] ?? $0 }
    return "that no field has, where " + owners.joined(separator: " and ")
      + (owners.count == 1 ? " names it" : " name it")
  }
}
