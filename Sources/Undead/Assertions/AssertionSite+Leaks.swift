import CUndead
import UndeadReport

extension AssertionSite {
  /// What a check leaves out: what all do, and what the rules name. A rule that makes no sense is a failure here.
  package func options(ignoring rules: [String]) -> ReportOptions {
    var options = session.environment.suppressions()
    for rule in rules {
      do {
        try options.suppressions.add(rule, file: "ignoring", tellsUnused: false)
      } catch {
        fail("a rule after `ignoring` has no effect: \(error.message)")
      }
    }
    return options
  }

  /// Fails if objects that the body makes can never be released any more; even if it throws.
  ///
  /// - Parameter rules: what is left out, as in a file of suppressions.
  package func assertNoLeaks<Output, Failure: Error>(
    ignoring rules: [String] = [], _ body: () throws(Failure) -> Output
  ) throws(Failure) -> Output {
    try ScopeCheck(self, options: options(ignoring: rules)).run(body) { tell($0) }
  }

  /// Fails if objects that the asynchronous body makes can never be released any more; even if it throws.
  package nonisolated(nonsending) func assertNoLeaks<Output, Failure: Error>(
    ignoring rules: [String] = [],
    _ body: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    try await ScopeCheck(self, options: options(ignoring: rules)).run(body) { tell($0) }
  }

  /// Fails unless the body leaks; what leaks counts as reported.
  ///
  /// - Parameter reason: why it is expected to leak, as the failure will say it.
  package func expectLeak<Output, Failure: Error>(
    _ reason: String, _ body: () throws(Failure) -> Output
  ) throws(Failure) -> Output {
    let check = ScopeCheck(self, options: ReportOptions())
    // What is found too late is a leak that was expected, too.
    defer { check.scope.exclude() }
    return try check.run(body) { expectLeaks(in: $0, reason) }
  }

  /// Fails unless the asynchronous body leaks; what leaks counts as reported.
  package nonisolated(nonsending) func expectLeak<Output, Failure: Error>(
    _ reason: String, _ body: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    let check = ScopeCheck(self, options: ReportOptions())
    defer { check.scope.exclude() }
    return try await check.run(body) { expectLeaks(in: $0, reason) }
  }

  /// Tells what a scope that has ended left behind.
  package nonisolated(nonsending) func tellLeaks(
    of scope: AllocationScope, options: ReportOptions
  ) async {
    do { tell(try await scope.check(options: options)) } catch { skip(error.description) }
  }

  private func expectLeaks(in report: LeakReport, _ reason: String) {
    if report.leaks.isEmpty { fail("nothing leaked, but a leak was expected: \(reason)") }
  }
}

/// A body that is checked at its end: its scope, and why nothing can be checked, if so.
private struct ScopeCheck<Site: AssertionSite> {
  private let site: Site
  let scope: AllocationScope
  private let obstacle: String?
  private let options: ReportOptions

  /// - Parameter options: what is left out.
  init(_ site: Site, options: ReportOptions) {
    self.site = site
    self.options = options
    obstacle = Availability.reason
    scope = AllocationScope.outsideOfAll { AllocationScope(site.scopeName, in: site.session) }
    if Site.isToldAtProcessEnd {
      site.session.end.expect(scope, at: site.place, test: site.scopeName, options: options)
    }
  }

  func run<Output, Failure: Error>(
    _ body: () throws(Failure) -> Output, finding: (LeakReport) -> Void
  ) throws(Failure) -> Output {
    defer {
      // Before there are the frames of the check, whose unused slots would keep what the body left there.
      undead_clear_stack()
      finish(finding)
    }
    return try scope.run(body)
  }

  nonisolated(nonsending) func run<Output, Failure: Error>(
    _ body: () async throws(Failure) -> Output,
    finding: (LeakReport) -> Void
  ) async throws(Failure) -> Output {
    let outcome = await Result(of: { () async throws(Failure) in try await scope.run(body) })
    if let obstacle {
      site.skip(obstacle)
    } else {
      do { finding(try await scope.check(options: options)) } catch { site.skip(error.description) }
    }
    return try outcome.get()
  }

  private func finish(_ finding: (LeakReport) -> Void) {
    if let obstacle { return site.skip(obstacle) }
    do { finding(try scope.check(options: options)) } catch { site.skip(error.description) }
  }
}
