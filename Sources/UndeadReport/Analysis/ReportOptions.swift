/// What a report shows and what it leaves out.
public struct ReportOptions: Sendable {
  /// Groups of fewer leaks are left out, and counted in the notes.
  package var minCount = 1
  /// What is expected and left out.
  package var suppressions = Suppressions()
  /// What was there already and is left out; nil for nothing.
  package var baseline: Baseline?

  /// Makes options; see the properties for the meaning of each part.
  public init(minCount: Int = 1, suppressions: Suppressions = Suppressions()) {
    self.minCount = minCount
    self.suppressions = suppressions
  }
}
