import UndeadReport

/// The looks at the process that it takes to judge scopes: more than one while threads seem to hold what was born in
/// them.
///
/// A thread that ran a part of a test may not be through with it, or have left a reference in its frames that later
/// work there has not written over. What is in no other place is waited for, for a third of a second at most: then it
/// counts as held.
struct ScopeLooks {
  /// The reports so far, in the order of the scopes.
  private(set) var reports: [LeakReport]
  private let scopes: [AllocationScope]
  private let options: ReportOptions
  private var pending: [Int]
  private var pauses: ArraySlice<Duration> = [2, 10, 30, 60, 100, 100].map { .milliseconds($0) }[...]

  /// - Parameters:
  ///   - scopes: of one session.
  ///   - options: what is left out; nil: what all checks of the session leave out.
  init(_ scopes: [AllocationScope], _ options: ReportOptions?) {
    self.scopes = scopes
    self.options = options ?? scopes.first?.session.environment.suppressions() ?? ReportOptions()
    reports = scopes.map { _ in LeakReport() }
    pending = Array(scopes.indices)
  }

  /// The look that is to be made, nil if all is known.
  var next: ScopeLook? {
    pending.isEmpty ? nil : ScopeLook(scopes: pending.map { scopes[$0] }, options: options, isLast: pauses.isEmpty)
  }

  /// Takes the findings of the look; returns how long to wait before the next one, nil if there is none.
  mutating func take(_ findings: [LeakReport?]) -> Duration? {
    for (index, report) in zip(pending, findings) {
      if let report { reports[index] = report }
    }
    pending = zip(pending, findings).filter { $0.1 == nil }.map(\.0)
    return pending.isEmpty ? nil : pauses.popFirst()
  }
}

/// One look at the process on behalf of some scopes.
struct ScopeLook: Sendable {
  let scopes: [AllocationScope]
  let options: ReportOptions
  let isLast: Bool

  /// That of the scopes.
  var session: DetectionSession { scopes[0].session }

  /// The report of each scope; nil for those that have to be looked at again.
  @Sendable func findings(on snapshot: borrowing Snapshot) -> [LeakReport?] {
    let search = ScopeSearch(copy snapshot, in: session)
    let numbers = Set(scopes.map(\.number))
    let unsettled =
      isLast ? [] : Set(session.instrument.heldByThreads().compactMap { search.innermost(of: numbers, around: $0) })
    return scopes.map { scope in
      unsettled.contains(scope.number) ? nil : search.report(of: scope, among: numbers, options: options)
    }
  }
}
