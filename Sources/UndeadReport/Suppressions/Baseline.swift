import UndeadSystem

/// The leaks, suspects and zombies that were there already: only others count.
///
/// Groups are known by their signatures, which do not depend on lines, addresses and counts (`Documentation/suppressions.md`).
package struct Baseline: Sendable, Equatable {
  private struct Entry: Hashable, Sendable {
    var signature: String
    /// What it was, for readers of the file.
    var title: String
  }

  private var entries: [Entry]
  /// Name of the file, as given.
  package var file: String

  /// Takes all that a report has.
  package init(of report: LeakReport, file: String) {
    self.file = file
    let groups =
      report.leaks.map { Entry(signature: $0.signature, title: Self.title("leak", $0.objects, $0.test)) }
      + report.suspects.map { Entry(signature: $0.signature, title: Self.title("suspect", $0.objects, $0.test)) }
      + report.zombies.map { Entry(signature: $0.signature, title: "zombie: \($0.message)") }
    // Sorted, so that a change of the file shows what changed.
    entries = Set(groups).ordered { ($0.title, $0.signature) < ($1.title, $1.signature) }
  }

  /// Reads the text of a file.
  ///
  /// - Throws: ``SuppressionError`` that names the line.
  package init(parsing text: String, file: String) throws(SuppressionError) {
    self.file = file
    entries = []
    for (number, row) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = row.trimmed
      guard !line.isEmpty, !line.hasPrefix("#") else { continue }
      let signature = line.prefix { !$0.isWhitespace }
      guard signature.utf8.count == 16, signature.allSatisfy(\.isHexDigit) else {
        throw SuppressionError(
          file: file, line: number + 1,
          message: "\"\(signature)\" is no signature of 16 hex digits; write the file anew with --update-baseline")
      }
      entries.append(Entry(signature: String(signature), title: String(line.dropFirst(16).trimmed)))
    }
  }

  /// The text of the file.
  package var text: String {
    "# What 'undead --baseline' accepts: signatures of leaks, suspects and zombies. Written by --update-baseline.\n"
      + entries.map { "\(TextLine("\($0.signature)  \($0.title)").plain)\n" }.joined()
  }

  /// How many groups it has.
  package var count: Int { entries.count }

  private static func title(_ kind: String, _ objects: [LeakedObject], _ test: TestIdentity?) -> String {
    let types = objects.prefix(2).map(\.type).joined(separator: ", ")
    return "\(kind): \(types)" + (test.map { " in \($0.fullName)" } ?? "")
  }

  // MARK: Use

  /// Takes what is in it out of a report, and says so there.
  func apply(to report: inout LeakReport) {
    let known = Set(entries.map(\.signature))
    let all = report.leaks.map(\.signature) + report.suspects.map(\.signature) + report.zombies.map(\.signature)
    report.leaks.removeAll { known.contains($0.signature) }
    report.suspects.removeAll { known.contains($0.signature) }
    report.zombies.removeAll { known.contains($0.signature) }
    let found = all.filter(known.contains).count
    report.summary.suppressed += found
    let gone = known.subtracting(all).count
    if found > 0 { report.summary.notes.append("left out: \(Self.groups(found)) of the baseline \(file)") }
    if gone > 0 {
      report.summary.notes.append(
        "not found any more: \(Self.groups(gone)) of the baseline \(file); --update-baseline takes them out of it")
    }
  }

  private static func groups(_ count: Int) -> String { count == 1 ? "1 group" : "\(count) groups" }
}
