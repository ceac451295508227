import UndeadHeap

/// What a watch found, as far as censuses tell it.
package struct GrowthFindings: Sendable, Equatable {
  /// Types that grow: those of the program first, then the fastest in bytes.
  package var types: [TypeGrowth] = []
  /// All memory together; nil if too little was seen.
  package var all: TypeGrowth?
  /// Resident memory; nil if too little was seen, or it is not known.
  package var resident: TypeGrowth?
  /// Open files and threads; nil likewise.
  package var descriptors: TypeGrowth?
  package var threads: TypeGrowth?
  /// Seconds between the first and the last census.
  package var watched: Double
  /// Seconds at the start that were not judged.
  package var warmUp: Double
  package var censuses: Int
  /// What the longest census took, in seconds: the program's pause, and until it was counted.
  package var longestPause: Double
  package var longestCensus: Double
  /// Censuses, or groups of them, that were judged.
  package var judged = 0
  /// Rules that are broken, and by what.
  package var broken: [BrokenRule] = []
  package var ruleCount: Int

  package struct BrokenRule: Sendable, Equatable {
    package var text: String
    package var types: [String]
  }

  /// False if there are too few censuses to say anything.
  package var isJudged: Bool { all != nil }

  /// Judges a series.
  ///
  /// - Parameters:
  ///   - series: the censuses, the oldest first.
  ///   - warmUp: seconds at the start that say nothing; nil for a quarter of the time.
  ///   - rules: what growth is a failure.
  package init(_ series: CountSeries, warmUp: Double? = nil, rules: [GrowthRule] = []) {
    let (start, end) = (series.times.first ?? 0, series.times.last ?? 0)
    watched = end - start
    self.warmUp = min(warmUp ?? watched / 4, watched)
    censuses = series.taken
    (longestPause, longestCensus) = series.longest
    ruleCount = rules.count
    let first = start + self.warmUp
    let from = series.times.firstIndex { $0 >= first } ?? series.times.count
    judged = series.times.count - from
    guard judged >= Trend.least else { return }
    let times = Array(series.times[from...])
    var candidates: [(name: String, amounts: [TypeCounts.Amount])] = []
    for name in series.names {
      let amounts = Array(series.amounts(of: name)[from...])
      let changes = amounts.contains { $0 != amounts[0] }
      if changes || Self.totals.contains(name) { candidates.append((name, amounts)) }
    }
    // A name stands for two questions.
    let growths = candidates.compactMap { candidate in
      Self.growth(
        of: candidate.name, candidate.amounts, times, questions: 2 * candidates.count,
        now: series.newest?.amounts[candidate.name] ?? TypeCounts.Amount())
    }
    all = growths.first { $0.name == TypeCounts.all }
    resident = growths.first { $0.name == TypeCounts.resident }
    descriptors = growths.first { $0.name == TypeCounts.descriptors }
    threads = growths.first { $0.name == TypeCounts.threads }
    let own = series.newest?.programTypes ?? []
    func rank(_ growth: TypeGrowth) -> (Int, Double, Double) {
      (own.contains(growth.name) ? 1 : 0, growth.bytes.slope, growth.count.slope)
    }
    types = growths.filter { $0.grows && !Self.totals.contains($0.name) }
      .sorted { a, b in rank(a) == rank(b) ? a.name < b.name : rank(a) > rank(b) }
    broken = rules.compactMap { rule in
      let names = (types + [all, resident, descriptors, threads].compactMap(\.self)).filter(rule.isBroken).map(\.name)
      return names.isEmpty ? nil : BrokenRule(text: rule.text, types: names)
    }
  }

  private static let totals = TypeCounts.ofProcess.union([TypeCounts.all])

  /// True if the process grows, and its blocks do not.
  package var growsBesideBlocks: Bool { resident?.bytesGrow == true && all?.bytesGrow == false }

  private static func growth(
    of name: String, _ amounts: [TypeCounts.Amount], _ times: [Double], questions: Int, now: TypeCounts.Amount
  ) -> TypeGrowth? {
    guard let count = Trend(times: times, values: amounts.map(\.count), questions: questions),
      let bytes = Trend(times: times, values: amounts.map(\.bytes), questions: questions)
    else { return nil }
    let span = times[times.count - 1] - times[0]
    return TypeGrowth(
      name: name, count: count, bytes: bytes, now: now,
      risen: TypeCounts.Amount(count: count.slope * span, bytes: bytes.slope * span))
  }
}
