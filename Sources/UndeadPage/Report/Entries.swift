import UndeadReport

/// The findings of a page, an entry for each thing that is to blame, with the names by which they are linked to.
struct Entries {
  struct Entry {
    /// What stands in `href`: made of signatures, which stay the same from report to report.
    var id: String
    /// The finding that is shown in full.
    var worst: Finding
    /// What else is to blame for the same; nil for zombies.
    var group: Findings.Group?

    var title: String { group?.title ?? worst.title }
    var count: Int { group?.culprit.count ?? worst.count }
    var objectCount: Int? { group.map(\.culprit.objectCount) ?? worst.objectCount }
    var totalBytes: Int? { group.map(\.culprit.totalBytes) ?? worst.totalBytes }
  }

  let leaks: [Entry]
  let zombies: [Entry]
  let suspects: [Entry]
  var all: [Entry] { leaks + zombies + suspects }

  init(_ report: LeakReport) {
    let findings = Findings(report)
    var names = AnchorNames()
    leaks = findings.leaks.map { group in
      Entry(id: names.anchor("leak", group.culprit.signature), worst: group.worst, group: group)
    }
    zombies = findings.zombies.map { zombie in
      Entry(id: names.anchor("zombie", zombie.signature), worst: zombie, group: nil)
    }
    suspects = findings.suspects.map { group in
      Entry(id: names.anchor("suspect", group.culprit.signature), worst: group.worst, group: group)
    }
  }
}

/// Gives each part of a page a name of its own.
struct AnchorNames {
  private var seen: [String: Int] = [:]

  mutating func anchor(_ prefix: String, _ signature: String) -> String {
    let word = String(
      signature.unicodeScalars.filter { $0.isASCII && ("0"..."z").contains($0) && $0.isWord })
    let name = prefix + "-" + (word.isEmpty ? "0" : word)
    let times = seen[name, default: 0] + 1
    seen[name] = times
    return times == 1 ? name : "\(name)-\(times)"
  }
}

extension Unicode.Scalar {
  fileprivate var isWord: Bool {
    ("0"..."9").contains(self) || ("a"..."z").contains(self) || ("A"..."Z").contains(self)
  }
}
