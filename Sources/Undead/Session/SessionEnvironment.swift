import Foundation
import UndeadReport

/// Settings of the environment of a session, and where it prints what no test library takes.
package struct SessionEnvironment: Sendable {
  /// True if a check that cannot be made is a failure: `UNDEAD_REQUIRE=1` in the environment.
  package var isRequired: Bool
  /// What all assertions leave out.
  package var suppressions: @Sendable () -> ReportOptions
  /// Writes a text as it is.
  package var write: @Sendable (String) -> Void

  package init(
    isRequired: Bool = false, suppressions: @escaping @Sendable () -> ReportOptions = { ReportOptions() },
    write: @escaping @Sendable (String) -> Void
  ) {
    self.isRequired = isRequired
    self.suppressions = suppressions
    self.write = write
  }

  /// That of the process: its variables, the file of suppressions of its package, standard error.
  package static let process = SessionEnvironment(
    isRequired: ProcessInfo.processInfo.environment["UNDEAD_REQUIRE"] == "1",
    suppressions: { StandingSuppressions.options }, write: StandardError.write)
}
