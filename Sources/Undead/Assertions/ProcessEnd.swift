import CUndead
import Foundation
import UndeadReport
import UndeadSystem

/// What a session checks when the test process ends, after the last test.
package final class ProcessEnd: Sendable {
  /// Who made what a scope left behind, or a tracked object: test libraries take no more issues for its line.
  fileprivate struct Origin: Sendable {
    let place: String
    let test: String
    /// That of the scope, if it has one.
    var function: String?
    /// What the check of the scope leaves out.
    var options = ReportOptions()
  }

  private struct TrackedObjectOfTest: Sendable {
    var origin: Origin
    var object: TrackedObject
    var grace: Duration
  }

  private struct State {
    var isExpected = false
    var isInTest: @Sendable () -> Bool = { false }
    var scopes: [UInt32: Origin] = [:]
    var objects: [TrackedObjectOfTest] = []
    var failures = 0
  }

  private let state = Mutex(State())
  /// A process has one end, and one session checks it by itself.
  private let isOfProcess: Bool

  init(isOfProcess: Bool) {
    self.isOfProcess = isOfProcess
  }

  /// Has the end tell what the check of a scope did not find: a stale word on a stack may have hidden it.
  ///
  /// - Parameters:
  ///   - place: the line to blame.
  ///   - test: what is at fault, as the message begins.
  ///   - options: what is left out.
  package func expect(_ scope: AllocationScope, at place: String, test: String, options: ReportOptions) {
    guard scope.session.instrument.isActive() else { return }
    let origin = Origin(place: place, test: test, function: scope.function, options: options)
    register { $0.scopes[scope.number] = origin }
  }

  /// Checks an object at the end.
  ///
  /// - Parameter isInTest: says whether the calling code belongs to a test.
  package func track(
    _ object: TrackedObject, at place: String, test: String, grace: Duration,
    isInTest: @escaping @Sendable () -> Bool
  ) {
    register { state in
      let origin = Origin(place: place, test: test)
      state.objects.append(TrackedObjectOfTest(origin: origin, object: object, grace: grace))
      state.isInTest = isInTest
    }
  }

  private func register(_ change: (inout State) -> Void) {
    if Availability.isForkedCopy { return }
    let isNew = AllocationScope.outsideOfAll {
      state.withLock { state in
        change(&state)
        defer { state.isExpected = true }
        return !state.isExpected
      }
    }
    guard isNew, isOfProcess else { return }
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      on_exit({ status, _ in ProcessEnd.end(status) }, nil)
    #else
      atexit { ProcessEnd.end(nil) }
    #endif
  }

  /// The process ends.
  ///
  /// - Parameter status: that of the process; nil if the C library does not show it.
  private static func end(_ status: Int32?) {
    let session = DetectionSession.process
    // The tests of a forked copy are those of the other process.
    if Availability.isForkedCopy { return }
    guard !session.end.check(status, in: session) else { return }
    if let status {
      // glibc runs the rest of the handlers, and ends the process with the new status.
      if status == EXIT_SUCCESS { exit(EXIT_FAILURE) }
    } else {
      // Elsewhere a handler must not call exit().
      fflush(nil)
      _Exit(EXIT_FAILURE)
    }
  }

  /// Checks what the session expects at the end; false if that failed.
  func check(_ status: Int32?, in session: DetectionSession) -> Bool {
    let (objects, scopes, isInTest) = state.withLock { ($0.objects, $0.scopes, $0.isInTest) }
    if isInTest() || session.scopes.isAnyRunning {
      let text = "exit(\(status.map { "\($0)" } ?? "")) was called while a test ran: its end is not checked for leaks"
      session.environment.write("undead: \(text)\n")
      return true
    }
    let assertions = objects.map {
      TrackingAssertion(site: EndSite($0.origin, session), object: $0.object, grace: $0.grace)
    }
    TrackingAssertion.check(assertions, name: "the tests")
    if session.instrument.isActive(), session.instrument.haveSurvivors() { checkScopes(scopes, session) }
    return !hasFailed
  }

  /// True if something was reported that fails the test run.
  var hasFailed: Bool { state.withLock { $0.failures > 0 } }

  fileprivate func noteFailure() { state.withLock { $0.failures += 1 } }

  /// What the last search found.
  private struct Findings: Sendable {
    var missed: [(scope: UInt32, report: LeakReport)]
    var rest: LeakReport
  }

  /// Says that there was no last search; a failure if checks are required.
  func tellFailure(_ error: UndeadError, in session: DetectionSession) {
    let text = "the last search, for leaks that the checks of the tests did not see, could not be made: \(error)"
    session.environment.write("undead: \(text)\n")
    if session.environment.isRequired { noteFailure() }
  }

  private func checkScopes(_ origins: [UInt32: Origin], _ session: DetectionSession) {
    let expected = origins.mapValues { ScopeSearch.Expected(function: $0.function, options: $0.options) }
    let found: Findings
    do {
      found = try LeakSearch.run(session.instrument) { snapshot in
        let search = ScopeSearch(copy snapshot, in: session)
        return Findings(missed: search.missed(by: expected), rest: search.unattributed())
      }
    } catch {
      return tellFailure(error, in: session)
    }
    for (scope, report) in found.missed {
      guard let origin = origins[scope] else { continue }
      for leak in report.leaks { EndSite(origin, session).tellMissed(leak) }
    }
    guard !found.rest.leaks.isEmpty else { return }
    var options = ReportTextOptions()
    options.directory = EndSite.directory
    session.environment.write(
      "undead: leaks that no single test can be shown to have made:\n"
        + TextRenderer.render(found.rest, options: options))
  }
}

/// The line of an assertion for which test libraries take no more issues.
private struct EndSite: AssertionSite {
  let session: DetectionSession
  private let origin: ProcessEnd.Origin

  init(_ origin: ProcessEnd.Origin, _ session: DetectionSession) {
    self.origin = origin
    self.session = session
  }

  var place: String { origin.place }

  func record(_ outcome: AssertionOutcome, _ text: String) {
    if outcome == .failure { session.end.noteFailure() }
    let kind = outcome == .failure ? "error" : outcome.rawValue
    session.environment.write("\(place): \(kind): \(origin.test): \(text)\n")
  }

  func tellMissed(_ leak: Leak) {
    fail(
      FailureText.text(leak, directory: Self.directory)
        + "\n  note       found when the process ended: something still seemed to refer to it when the test did")
  }
}
