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
