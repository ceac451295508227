import Foundation
import Testing
import Undead
import UndeadTesting

/// What a scan says when a fact about the runtime is not as expected.
@_silgen_name("undead_premises_refute") private func refute(_ what: UnsafePointer<CChar>)

/// With a runtime that is not as expected no assertion passes as if nothing had leaked: each test in a process of its own.
@Suite(.timeLimit(.minutes(20))) struct RefusalTests {
  @Test func anAssertionFails() async {
    await #expect(processExitsWith: .success) {
      _ = try LeakDetector.checkForLeaks()
      refute(strdup("a fact of this test"))
      withKnownIssue {
        assertNoLeaks { makeCycle() }
      } matching: {
        let text = $0.comments.map(\.rawValue).joined()
        return text.contains("no answer about leaks: a fact of this test") && text.contains("Swift runtime")
      }
    }
  }

  @Test func aCheckIsRefused() async throws {
    await #expect(processExitsWith: .success) {
      _ = try LeakDetector.checkForLeaks()
      refute(strdup("a fact of this test"))
      #expect {
        try LeakDetector.checkForLeaks()
      } throws: {
        "\($0)".contains("no answer about leaks: a fact of this test")
      }
    }
  }
}
