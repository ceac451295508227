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

/// A place in the program that has a part in a finding.
package struct Site: Sendable, Equatable {
  /// The part that it has.
  package enum Role: String, Sendable {
    case allocated, mechanism, suspended, scope, used, freed

    /// As texts call it.
    package var label: String {
      switch self {
      case .suspended: "waits in"
      case .mechanism: "made"
      default: rawValue
      }
    }
  }

  /// The part that it has.
  package var role: Role
  /// What stands before the place, `"Detail screen" ended`, or in its stead.
  package var text: String?
  /// The frame that tells most; nil if no backtrace was recorded.
  package var frame: Frame?
  /// The whole stack, innermost first.
  package var backtrace = Backtrace()
  /// The thread, if it is known.
  package var thread: String?
  /// What the place called, if that is a dependency's function: it made the object.
  package var called: Frame?
  /// Who else called the function of the place: the first frame in which each of the other stacks differs.
  package var otherCallers: [Frame] = []
  /// Number of the other ways that are not among these.
  package var hiddenCallers = 0
}

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

extension Finding {
  /// A growth as a finding: nothing but what happened.
  package init(growth title: String, cause: String) {
    self.init(kind: .suspect, cause: cause, signature: "", title: title)
  }
}
