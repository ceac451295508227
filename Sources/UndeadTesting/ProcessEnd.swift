import Foundation
import Synchronization
import Undead
import UndeadReport

/// What is checked when the process ends, after the last test.
enum ProcessEnd {
  private struct State {
    var isExpected = false
    var runsScopes = false
    var objects: [(assertion: TrackingAssertion<Site>, test: String)] = []
  }

  private static let state = Mutex(State())

  /// Tests with scopes run: what none of them can be shown to have made is told at the end.
  static func expectTests() {
    register { $0.runsScopes = true }
  }

  /// Checks an object at the end.
  static func track(_ assertion: TrackingAssertion<Site>, inTest test: String?) {
    register { $0.objects.append((assertion, test ?? "no test")) }
  }

  private static func register(_ change: (inout State) -> Void) {
    let isNew = state.withLock { state in
      change(&state)
      defer { state.isExpected = true }
      return !state.isExpected
    }
    if isNew { atexit { ProcessEnd.check() } }
  }

  private static func check() {
    let (objects, runsScopes) = state.withLock { ($0.objects, $0.runsScopes) }
    let alive = objects.filter(\.assertion.object.isAlive)
    let failures = describe(alive)
    if runsScopes { tellUnattributed() }
    guard !failures.isEmpty else { return }
    StandardError.write(failures.joined())
    // glibc runs the rest of the handlers, and ends the process with the new status.
    exit(EXIT_FAILURE)
  }

  private static func describe(_ alive: [(assertion: TrackingAssertion<Site>, test: String)]) -> [String] {
    guard let grace = alive.map(\.assertion.grace).max() else { return [] }
    if let obstacle = Availability.reason {
      for (assertion, _) in alive {
        StandardError.write("\(assertion.site.place): note: not checked for leaks: \(obstacle)\n")
      }
      return []
    }
    let result = TrackedObject.check(alive.map(\.assertion.object), name: "the tests", grace: grace)
    return result.survivors.map { survivor in
      let (assertion, test) = alive[survivor.index]
      let text = result.message(survivor, directory: Site.directory)
      return "\(assertion.site.place): error: \(test): \(text)\n"
    }
  }

  private static func tellUnattributed() {
    guard let report = try? AllocationScope.unattributedLeaks(), !report.leaks.isEmpty else { return }
    var options = TextOptions()
    options.directory = Site.directory
    StandardError.write(
      "undead: leaks that no single test can be shown to have made:\n" + TextRenderer.render(report, options: options))
  }
}
