/// What a text report shows, and how.
public struct ReportTextOptions: Sendable {
  /// Escape sequences for a terminal; the caller decides, and obeys NO_COLOR.
  package var color = false
  /// False: only the allocation site, not the whole stack.
  package var stacks = true
  /// Most frames of a stack that are shown.
  package var depth = 16
  /// Also the frames of the toolchain at the inner end of a stack.
  package var allFrames = false
  /// How many culprits are shown of leaks, and as many of suspects and of uses of dead objects.
  package var top = 20
  /// False: a block for each group, even where several have one culprit.
  package var groupsByCulprit = true
  /// The text after the number of those that are left out: how to see them.
  package var hint = ""
  /// Why each leak is certain.
  package var explains = false
  /// True if the notes say that there are no backtraces: then findings do not.
  package var hasNoBacktraces = false
  /// How the tool was called, in commands that a report proposes.
  package var command = "undead"
  /// Files inside this directory are shown relative to it; empty: all as the compiler recorded them.
  package var directory = ""
  /// Columns of the terminal, at which lines are broken between words; nil to break sentences only.
  package var width: Int?

  /// Makes options; see the properties for the meaning of each part.
  public init(color: Bool = false, stacks: Bool = true, depth: Int = 16, allFrames: Bool = false) {
    self.color = color
    self.stacks = stacks
    self.depth = depth
    self.allFrames = allFrames
  }
}
