import Foundation
import UndeadReport

/// Settings of the environment of a session, and where it prints what no test library takes.
package struct SessionEnvironment: Sendable {
  /// True if a check that cannot be made is a failure: `UNDEAD_REQUIRE=1` in the environment.
  package var isRequired = false
  /// What all assertions leave out.
  package var suppressions: @Sendable () -> ReportOptions = { ReportOptions() }
  /// Writes a text as it is.
  package var write: @Sendable (String) -> Void

  /// That of the process: its variables, the file of suppressions of its package, standard error.
  package static let process = SessionEnvironment(
    isRequired: ProcessInfo.processInfo.environment["UNDEAD_REQUIRE"] == "1",
    suppressions: { StandingSuppressions.options }, write: StandardError.write)
}
