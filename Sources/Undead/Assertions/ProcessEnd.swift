import CUndead
import Foundation
import UndeadReport
import UndeadSystem

/// What is checked when a test process ends, after the last test.
package enum ProcessEnd {
  private struct State {
    var isExpected = false
    var isInTest: @Sendable () -> Bool = { false }
    /// Who made what a scope left behind.
    var scopes: [UInt32: EndSite] = [:]
    var objects: [TrackingAssertion<EndSite>] = []
  }

  private static let state = Mutex(State())

  /// Has the end tell what the check of a scope did not find: a stale word on a stack may have hidden it.
  ///
  /// - Parameters:
  ///   - place: the line to blame.
  ///   - test: what is at fault, as the message begins.
  ///   - options: what is left out.
  package static func expect(
    _ scope: AllocationScope, at place: String, test: String, options: ReportOptions = StandingSuppressions.options
  ) {
    guard LeakDetector.isActive else { return }
    let site = EndSite(place: place, test: test, function: scope.function, options: options)
    register { $0.scopes[scope.number] = site }
  }

  /// Checks an object at the end.
  ///
  /// - Parameter isInTest: tells whether the calling code belongs to a test.
  package static func track(
    _ object: TrackedObject, at place: String, test: String, grace: Duration,
    isInTest: @escaping @Sendable () -> Bool
  ) {
    register { state in
      let site = EndSite(place: place, test: test)
      state.objects.append(TrackingAssertion(site: site, object: object, grace: grace))
      state.isInTest = isInTest
    }
  }

  private static func register(_ change: (inout State) -> Void) {
    if Availability.isForkedCopy { return }
    let isNew = AllocationScope.outsideOfAll {
      state.withLock { state in
        change(&state)
        defer { state.isExpected = true }
        return !state.isExpected
      }
    }
    guard isNew else { return }
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      on_exit({ status, _ in ProcessEnd.check(status) }, nil)
    #else
      atexit { ProcessEnd.check(nil) }
    #endif
  }

  /// - Parameter status: that of the process; nil if the C library does not tell it.
  private static func check(_ status: Int32?) {
    // The tests of a forked copy are those of the other process.
    if Availability.isForkedCopy { return }
    let (objects, scopes, isInTest) = state.withLock { ($0.objects, $0.scopes, $0.isInTest) }
    if isInTest() || AllocationScope.isAnyRunning {
      let text = "exit(\(status.map { "\($0)" } ?? "")) was called while a test ran: its end is not checked for leaks"
      return StandardError.write("undead: \(text)\n")
    }
    TrackingAssertion.check(objects, name: "the tests")
    if LeakDetector.isActive, AllocationScope.haveSurvivors { checkScopes(scopes) }
    guard EndSite.hasFailed else { return }
    if let status {
      // glibc runs the rest of the handlers, and ends the process with the new status.
      if status == EXIT_SUCCESS { exit(EXIT_FAILURE) }
    } else {
      // Elsewhere a handler must not call exit().
      fflush(nil)
      _Exit(EXIT_FAILURE)
    }
  }

  /// What the last search found.
  private struct Findings: Sendable {
    var missed: [(scope: UInt32, report: LeakReport)]
    var rest: LeakReport
  }

  /// Says that there was no last search; a failure if checks are required.
  package static func tellFailure(_ error: UndeadError) {
    let text = "the last search, for leaks that the checks of the tests did not see, could not be made: \(error)"
    StandardError.write("undead: \(text)\n")
    if Availability.isRequired { EndSite.noteFailure() }
  }

  private static func checkScopes(_ sites: [UInt32: EndSite]) {
    let expected = sites.mapValues { ScopeSearch.Expected(function: $0.function, options: $0.options) }
    let found: Findings
    do {
      found = try LeakSearch.run { snapshot in
        let search = ScopeSearch(copy snapshot)
        return Findings(missed: search.missed(by: expected), rest: search.unattributed())
      }
    } catch {
      return tellFailure(error)
    }
    for (scope, report) in found.missed {
      for leak in report.leaks { sites[scope]?.tellMissed(leak) }
    }
    guard !found.rest.leaks.isEmpty else { return }
    var options = TextOptions()
    options.directory = EndSite.directory
    StandardError.write(
      "undead: leaks that no single test can be shown to have made:\n"
        + TextRenderer.render(found.rest, options: options))
  }
}

/// The line of an assertion about which no test library can be told anything any more.
private struct EndSite: AssertionSite {
  let place: String
  let test: String
  /// That of the scope, if it has one.
  var function: String?
  /// What the check of the scope leaves out.
  var options = ReportOptions()

  private static let failures = Mutex(0)

  static func noteFailure() { failures.withLock { $0 += 1 } }

  static var hasFailed: Bool { failures.withLock { $0 > 0 } }

  func record(_ outcome: AssertionOutcome, _ text: String) {
    if outcome == .failure { Self.noteFailure() }
    let kind = outcome == .failure ? "error" : outcome.rawValue
    StandardError.write("\(place): \(kind): \(test): \(text)\n")
  }

  func tellMissed(_ leak: Leak) {
    fail(
      FailureText.text(leak, directory: Self.directory)
        + "\n  note       found when the process ended: something still seemed to refer to it when the test did")
  }
}

extension AllocationScope {
  /// False if nothing is left that was allocated while scopes were open.
  fileprivate static var haveSurvivors: Bool { undead_scope_has_survivors(1, 0) }
}
