import UndeadSystem

/// One finding as every renderer tells it: texts, annotations, messages of failed tests, pages.
///
/// Renderers differ in form only: the content is decided here, and none of them reads what another one wrote.
package struct Finding: Sendable, Equatable {
  /// What was found.
  package enum Kind: String, Sendable {
    case leak, suspect, zombie
  }

  /// What was found.
  package var kind: Kind
  /// `retainCycle`, `heldByTimer`, `method`: the kind in JSON.
  package var cause: String
  /// 16 hex digits, the same from run to run and machine to machine.
  package var signature: String
  /// What happened, in a few words, as if it happened once.
  package var title: String
  /// What else is known, in one sentence.
  package var details: String?
  /// What holds for a zombie, by the keys of the report: `sampled`, `race`.
  package var marks: [String] = []
  /// How often it happened.
  package var count = 1
  /// Objects of all of them; nil where these are not counted.
  package var objectCount: Int?
  /// Bytes of all of them; nil where these are not counted.
  package var totalBytes: Int?
  /// A few objects, roots of leaks first.
  package var objects: [LeakedObject] = []
  /// Cycles and paths, in the order of the report.
  package var chains: [Chain] = []
  /// Whose the references to the object at fault are, as far as it is known.
  package var references: ReferenceCount?
  /// Where it was made, where it waits, where it was used.
  package var sites: [Site] = []
  /// What leaked with it, the most bytes first.
  package var alsoLeaked: [TypeCount] = []
  /// Why it is certain, in one sentence; nil where that is not known.
  package var certainty: String?
  /// What to do.
  package var advice: String?
  /// What is to blame; nil for uses of dead objects, which are grouped by the function that used them.
  package var culprit: Blame?
  /// The test that made it.
  package var test: TestIdentity?
  /// Why the program cannot help it; only of known leaks.
  package var reason: String?

  /// "retain cycle of App.Owner, 3 times".
  package var heading: String { title + (count == 1 ? "" : ", \(count) times") }

  /// "3 objects, 96 bytes"; nil where nothing is counted.
  package var size: String? {
    Quantity.size(objects: objectCount, bytes: totalBytes)
  }

  /// The site of a role; nil if there is none.
  package func site(_ role: Site.Role) -> Site? { sites.first { $0.role == role } }
}

extension Finding {
  /// A growth as a finding: nothing but what happened.
  package init(growth title: String, cause: String) {
    self.init(kind: .suspect, cause: cause, signature: "", title: title)
  }
}
