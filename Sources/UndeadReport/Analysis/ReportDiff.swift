/// What changed between two reports of a program, by the signatures of the groups.
public struct ReportDiff: Codable, Sendable, Equatable {
  /// A group that both reports have.
  public struct Change: Codable, Sendable, Equatable {
    /// Signature of the group.
    public var signature: String
    /// Leaks in the old report.
    public var oldCount: Int
    /// Leaks in the new report.
    public var newCount: Int
    /// The group of the new report.
    public var leak: Leak

    /// Makes a change; see the properties for the meaning of each part.
    public init(signature: String, oldCount: Int, newCount: Int, leak: Leak) {
      self.signature = signature
      self.oldCount = oldCount
      self.newCount = newCount
      self.leak = leak
    }
  }

  /// The version of the JSON schema of the groups.
  public var schemaVersion = LeakReport.schemaVersion
  /// Groups only of the new report, the worst first.
  public var new: [Leak]
  /// Groups only of the old report, the worst first.
  public var gone: [Leak]
  /// Groups with more leaks than before.
  public var grown: [Change]
  /// Groups with fewer leaks than before.
  public var shrunk: [Change]
  /// Number of groups with as many leaks as before.
  public var unchanged: Int

  /// Compares two reports; their order and the addresses in them do not matter.
  public init(from old: LeakReport, to new: LeakReport) {
    let before = Dictionary(old.leaks.map { ($0.signature, $0) }) { first, _ in first }
    let after = Set(new.leaks.map(\.signature))
    self.new = new.leaks.filter { before[$0.signature] == nil }
    gone = old.leaks.filter { !after.contains($0.signature) }
    let changes = new.leaks.compactMap { leak in
      before[leak.signature].map {
        Change(signature: leak.signature, oldCount: $0.count, newCount: leak.count, leak: leak)
      }
    }
    grown = changes.filter { $0.newCount > $0.oldCount }
    shrunk = changes.filter { $0.newCount < $0.oldCount }
    unchanged = changes.count - grown.count - shrunk.count
  }
}
