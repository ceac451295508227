import Foundation

/// Compares a report with what was expected.
struct Judge {
  let expectation: Expectation
  /// Lines marked `// @name` in the sources of the program: "File.swift:name" -> lines.
  let markers: [String: Set<Int>]
  /// File name of the program's main source.
  let mainFile: String

  /// Says in one line each where the report differs; empty if it does not.
  func complaints(about report: ReportFile) -> [String] {
    var complaints: [String] = []
    if report.schemaVersion != 1 { complaints.append("schemaVersion is \(report.schemaVersion)") }
    if !report.summary.complete { complaints.append("the scan was not complete: \(report.summary.notes)") }
    if (report.summary.leaks > 0) != !report.leaks.isEmpty { complaints.append("summary.leaks contradicts leaks") }
    if (report.summary.suspects > 0) != !report.suspects.isEmpty {
      complaints.append("summary.suspects contradicts suspects")
    }
    if Set(report.groups.map(\.group.signature)).count != report.groups.count {
      complaints.append("two groups have the same signature")
    }
    complaints += expectation.notes.filter { note in !report.summary.notes.contains { $0.contains(note) } }
      .map { "no note: \($0)" }
    if expectation.groups.isEmpty && expectation.notes.isEmpty {
      complaints += report.summary.notes.filter { $0.contains("of the toolchain's own functions") }
    }
    var rest = report.groups
    for expected in expectation.groups {
      let candidates = rest.enumerated().filter { expected.sections.contains($0.element.section) }
        .map { (index: $0.offset, complaints: complaintsAbout($0.element.group, expected)) }
      guard let best = candidates.min(by: { $0.complaints.count < $1.complaints.count }) else {
        complaints.append("missing: \(expected.sections.sorted()) \(expected.values)")
        continue
      }
      if best.complaints.isEmpty {
        rest.remove(at: best.index)
      } else {
        complaints.append(
          "no group is as expected, \(expected.values); the nearest is \(rest[best.index].group.line): "
            + best.complaints.joined(separator: "; "))
        if best.complaints.count < expected.values.count { rest.remove(at: best.index) }
      }
    }
    complaints += rest.filter { $0.section != "known" }.map { "not expected: \($0.section) \($0.group.line)" }
    return complaints
  }

  private func complaintsAbout(_ group: ReportFile.Group, _ expected: Expectation.Group) -> [String] {
    var complaints: [String] = []
    if let kinds = expected.list("kind").first, !kinds.contains(group.kind) { complaints.append("kind \(group.kind)") }
    for alternatives in expected.list("types")
    where !group.types.contains(where: { Self.matches($0, anyOf: alternatives) }) {
      complaints.append("no type \(alternatives.joined(separator: " or "))")
    }
    for alternatives in expected.list("also")
    where !(group.alsoLeaked ?? []).contains(where: { Self.matches($0.type, anyOf: alternatives) }) {
      complaints.append("does not also leak \(alternatives.joined(separator: " or "))")
    }
    let fields = (group.cycle ?? group.retainPath ?? []).compactMap(\.field)
    for alternatives in expected.list("fields")
    where !fields.contains(where: { field in alternatives.contains { Self.isField(field, $0) } }) {
      complaints.append("no edge is the field \(alternatives.joined(separator: " or "))")
    }
    if let count = expected.values["count"], count != String(group.count) { complaints.append("count \(group.count)") }
    if let word = expected.values["advice"], !(group.advice ?? "").contains(word) {
      complaints.append("advice \(group.advice ?? "")")
    }
    if let closure = expected.values["closure"],
      !group.closures.contains(where: { $0.symbol.contains(closure) })
    {
      complaints.append("no closure of \(closure)")
    }
    if let places = expected.list("closureAt").first, !group.closures.contains(where: { isFrame($0, at: places) }) {
      let closures = group.closures.map { "\($0.symbol) \($0.file ?? "?"):\($0.line ?? 0)" }
      complaints.append("no closure at \(places.joined(separator: " or ")) but \(closures)")
    }
    if let places = expected.list("at").first,
      !group.allocation.frames.contains(where: { isFrame($0, at: places) })
    {
      let frames = group.allocation.frames.prefix(4).map { "\($0.symbol) \($0.file ?? "?"):\($0.line ?? 0)" }
      complaints.append("not allocated at \(places.joined(separator: " or ")) but \(frames)")
    }
    return complaints
  }

  /// `*` in a pattern stands for any text; a `|` may not be in a type.
  static func matches(_ type: String, anyOf patterns: [String]) -> Bool {
    patterns.contains { pattern in
      let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
      guard let first = parts.first, let last = parts.last, parts.count > 1 else { return type == pattern }
      guard type.hasPrefix(first), type.hasSuffix(last) else { return false }
      return parts.dropFirst().dropLast().allSatisfy { type.contains($0) }
    }
  }

  /// The pattern's first part is the first component of the field; the others are somewhere in it.
  private static func isField(_ field: String, _ pattern: String) -> Bool {
    let parts = pattern.split(separator: "~")
    guard let head = parts.first, field.hasPrefix(head) else { return false }
    let next = field.dropFirst(head.count).first
    guard next.map({ !$0.isLetter && !$0.isNumber && $0 != "_" }) ?? true else { return false }
    return parts.dropFirst().allSatisfy { field.contains($0) }
  }

  private func isFrame(_ frame: ReportFile.Frame, at places: [String]) -> Bool {
    guard let path = frame.file, let line = frame.line else { return false }
    return places.contains { place in
      let key = place.contains(":") ? place : "\(mainFile):\(place)"
      return path.split(separator: "/").last == key.prefix { $0 != ":" } && markers[key, default: []].contains(line)
    }
  }
}
