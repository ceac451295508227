import UndeadSystem

extension LeakReport {
  /// A block that an earlier check of the same process called a leak, and that turned out to be none: a defect of the tool.
  package struct RefutedLeak: Codable, Sendable, Equatable {
    /// How it turned out; a reader must expect kinds that it does not know.
    package struct Kind: RawRepresentable, Codable, Sendable, Hashable {
      /// The text in JSON.
      package var rawValue: String

      /// Makes a kind of its text in JSON.
      package init(rawValue: String) {
        self.rawValue = rawValue
      }

      /// The program freed it.
      package static let freed = Kind(rawValue: "freed")
      /// It was freed or resized where that is not seen.
      package static let gone = Kind(rawValue: "gone")
      /// Memory of the program leads to it.
      package static let reached = Kind(rawValue: "reached")
      /// A stack, a register or a number names it, perhaps by a stale value.
      package static let named = Kind(rawValue: "named")
      /// It was retained or released.
      package static let counted = Kind(rawValue: "counted")
    }

    /// How it turned out.
    package var kind: Kind
    /// Its type, as in ``LeakedObject``.
    package var type: String
    /// Its address as hexadecimal text.
    package var address: String
    /// Its bytes.
    package var size: Int
    /// Why the earlier check was certain; nil if no word named it.
    package var certainty: Certainty?
    /// True if a weak or unowned reference may have brought it back, which a program may well do.
    package var isRevived: Bool
    /// Number of the check that called it a leak, from 1.
    package var calledByCheck: Int
    /// Number of the check that found out, or that was to come next.
    package var refutedByCheck: Int
    /// Where it was allocated.
    package var allocation: Backtrace
    /// Where it was freed; nil if that was not seen, or it is still there.
    package var end: Backtrace?
    /// What leads to it.
    package var path: String?
  }

  /// Why it is certain that nobody holds what leaked although words named it: all references that counts include were found.
  package struct Certainty: Codable, Sendable, Equatable {
    /// `number`: a word of a number names it. `place`: a place that may be out of use, of a frame, of a task or of a tail.
    /// Empty: such a word names another block that holds it.
    package var namedBy: [String] = []
    /// How often it is retained; nil where this is not known.
    package var strong: Int?
    /// How many of these references are of what leaked.
    package var counted: Int?
  }

  /// What became of the leaks that earlier checks of the processes found.
  package struct EarlierChecks: Codable, Sendable, Equatable {
    /// Checks before this one.
    package var checks = 0
    /// Blocks that they called leaks.
    package var leaks = 0
    /// Of these, such as were freed, resized, retained, released, or reached again.
    package var refuted = 0
    /// Such as a stack, a register or a number names again, perhaps by a stale value.
    package var named = 0
    /// Such as a weak or unowned reference may have brought back.
    package var revived = 0

    /// Makes numbers of nothing.
    package init() {}

    /// Adds the numbers of other processes.
    package mutating func add(_ other: EarlierChecks) {
      checks.addSaturating(UInt64(clamping: other.checks))
      leaks.addSaturating(UInt64(clamping: other.leaks))
      refuted.addSaturating(UInt64(clamping: other.refuted))
      named.addSaturating(UInt64(clamping: other.named))
      revived.addSaturating(UInt64(clamping: other.revived))
    }

    /// The notes on them.
    var notes: [String] {
      var notes: [String] = []
      if refuted > 0 {
        notes.append(
          "\(Quantity.of(refuted, "block")) that an earlier check of the process called \(refuted == 1 ? "a leak" : "leaks") "
            + "turned out to be none: this is a defect of undead. Please send this report in JSON to its developers")
      }
      if named > 0 {
        notes.append(
          "\(Quantity.of(named, "leak")) of earlier checks \(named == 1 ? "is" : "are") named by a stack, a register or a number now, "
            + "perhaps by a stale value")
      }
      if revived > 0 {
        notes.append(
          "\(Quantity.of(revived, "leak")) of earlier checks \(revived == 1 ? "was" : "were") brought back through a weak or "
            + "unowned reference")
      }
      return notes
    }
  }
}
