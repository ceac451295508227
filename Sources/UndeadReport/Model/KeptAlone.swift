extension LeakReport {
  /// Objects that one timer, source, observer or task alone keeps, and that have no field for it: they may live on purpose, so
  /// they are no suspects.
  package struct KeptAlone: Codable, Sendable, Equatable {
    /// What keeps them.
    package var kind: Suspect.Kind
    /// 16 hex digits, the same from run to run and machine to machine.
    package var signature: String
    /// Their type.
    package var type: String
    /// How many there are.
    package var count: Int
    /// Bytes of all of them.
    package var totalBytes: Int
    /// What a run loop calls that thing; nil if no run loop has it.
    package var item: String?
    /// Where the first one was allocated.
    package var allocation: Backtrace
    /// Where a task waits.
    package var suspended: Backtrace?
  }
}

extension LeakReport.KeptAlone {
  /// A group of one.
  init(
    kind: LeakReport.Suspect.Kind, signature: String, type: String, size: Int, item: String?,
    allocation: LeakReport.Backtrace, suspended: LeakReport.Backtrace?
  ) {
    self.init(
      kind: kind, signature: signature, type: type, count: 1, totalBytes: size, item: item, allocation: allocation,
      suspended: suspended)
  }

  /// Adds those of another group with the same signature.
  mutating func add(_ other: Self) {
    count.addSaturating(UInt64(clamping: other.count))
    totalBytes.addSaturating(UInt64(clamping: other.totalBytes))
  }

  static func mostFirst(_ a: Self, _ b: Self) -> Bool {
    (b.count, b.totalBytes, a.type, a.signature) < (a.count, a.totalBytes, b.type, b.signature)
  }
}
