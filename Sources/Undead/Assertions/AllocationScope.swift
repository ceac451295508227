import UndeadReport

/// A part of the run, such as a test: knows which objects were born in it, and finds those that leaked.
///
/// What the body allocates belongs to the scope, on its own thread and in its tasks and their child tasks. A scope in a
/// scope takes its own allocations; the outer one reports only what the inner one did not. Threads, dispatched
/// blocks and detached tasks belong to the scope only if their backtraces prove it; what leaks there otherwise is left
/// to ``unattributedLeaks(options:)``. A leak is reported once in a process, to who asks first.
package final class AllocationScope: Sendable {
  /// The name that reports show.
  package let name: String

  package init(_ name: String) {
    self.name = name
  }

  /// Runs a part of the scope.
  ///
  /// The body runs deeper in the stack than a later check, so that no trace of it hides a leak.
  package func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try body()
  }

  /// Runs an asynchronous part of the scope.
  package func run<Result, Failure: Error>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await body()
  }

  /// Makes the scope that of the calling thread and of the tasks that are started on it, until ``end()``.
  ///
  /// For observers that are told of beginning and end. Outside of tasks only; begin and end on one thread, in pairs.
  package func begin() {}

  /// Ends what ``begin()`` began.
  package func end() {}

  /// Finds the objects born in the scope that nothing reaches any more, and the suspects among the others.
  ///
  /// The report has `leaks` and `suspects` of the scope only. Never scans if recording is off.
  ///
  /// - Parameter options: suppressions.
  /// - Throws: ``UndeadError`` if the instrument is not active or the check could not be made.
  package func check(options: ReportOptions = ReportOptions()) throws(UndeadError) -> LeakReport {
    LeakReport()
  }

  /// The same, without blocking the thread.
  package func check(
    options: ReportOptions = ReportOptions(), isolation: isolated (any Actor)? = #isolation
  ) async throws(UndeadError) -> LeakReport {
    LeakReport()
  }

  /// Finds what leaked while scopes were open and that no scope reported, for the end of a test run.
  package static func unattributedLeaks(options: ReportOptions = ReportOptions()) throws(UndeadError) -> LeakReport {
    LeakReport()
  }
}
