import Foundation
import Synchronization
import Testing
import Undead
import UndeadReport

/// What is checked when the process ends, after the last test.
enum ProcessEnd {
  private struct State {
    var isExpected = false
    var runsScopes = false
    var objects: [TrackingAssertion<EndSite>] = []
  }

  private static let state = Mutex(State())

  /// Tests with scopes run: what none of them can be shown to have made is told at the end.
  static func expectScopes() {
    register { $0.runsScopes = true }
  }

  /// Checks an object at the end.
  static func track(_ object: TrackedObject, at site: Site, grace: Duration) {
    let test = Test.current?.name ?? "no test"
    register { state in
      state.objects.append(TrackingAssertion(site: EndSite(site: site, test: test), object: object, grace: grace))
    }
  }

  private static func register(_ change: (inout State) -> Void) {
    if Availability.isForkedCopy { return }
    let isNew = state.withLock { state in
      change(&state)
      defer { state.isExpected = true }
      return !state.isExpected
    }
    if isNew { on_exit({ status, _ in ProcessEnd.check(status) }, nil) }
  }

  private static func check(_ status: Int32) {
    // The tests of a forked copy are those of the other process.
    if Availability.isForkedCopy { return }
    let (objects, runsScopes) = state.withLock { ($0.objects, $0.runsScopes) }
    if Test.current != nil || AllocationScope.isAnyRunning {
      let text = "exit(\(status)) was called while a test ran: its end is not checked for leaks"
      return StandardError.write("undead: \(text)\n")
    }
    TrackingAssertion.check(objects, name: "the tests")
    if runsScopes { tellUnattributed() }
    // glibc runs the rest of the handlers, and ends the process with the new status.
    if status == EXIT_SUCCESS, EndSite.hasFailed { exit(EXIT_FAILURE) }
  }

  private static func tellUnattributed() {
    guard let report = try? AllocationScope.unattributedLeaks(), !report.leaks.isEmpty else { return }
    var options = TextOptions()
    options.directory = Site.directory
    StandardError.write(
      "undead: leaks that no single test can be shown to have made:\n" + TextRenderer.render(report, options: options))
  }
}

/// The line of an assertion about which the test library can be told nothing any more.
private struct EndSite: AssertionSite {
  let site: Site
  let test: String

  private static let failures = Atomic(0)

  static var hasFailed: Bool { failures.load(ordering: .relaxed) > 0 }

  var place: String { site.place }

  func record(_ outcome: AssertionOutcome, _ text: String) {
    if outcome == .failure {
      Self.failures.add(1, ordering: .relaxed)
      StandardError.write("\(place): error: \(test): \(text)\n")
    } else {
      StandardError.write("\(place): \(outcome.rawValue): \(text)\n")
    }
  }
}
