import Foundation
import Testing

extension OutsidePackageTests {
  /// Tests that end their process, or a forked copy of it: what was said before stays, and nothing of ours changes the end.
  @Suite(.serialized) struct EndingTests {
    enum Library: String, CaseIterable {
      case xctest, testing

      var arguments: String {
        self == .xctest ? "ShopXCTests.Ending" : "--testing-library swift-testing --filter ShopTests.Ending"
      }
    }

    @Test(arguments: Library.allCases) func aTrapStaysATrap(library: Library) async throws {
      let outcome = try await run("trap", library)
      #expect(outcome.ending == .signal(SIGILL))
      #expect(outcome.output.contains("as asked for"))
      expectEarlierLeak(outcome.output)
    }

    @Test(arguments: Library.allCases) func anExitKeepsItsStatus(library: Library) async throws {
      let outcome = try await run("exit", library)
      #expect(outcome.ending == .exit(3))
      expectEarlierLeak(outcome.output)
      let isTold = outcome.output.contains("exit(3) was called while a test ran: its end is not checked for leaks")
      // XCTest gets no report at the end.
      #expect(isTold == (library == .testing))
    }

    @Test(arguments: Library.allCases) func aForkedCopyChecksNothing(library: Library) async throws {
      let outcome = try await run("fork", library)
      #expect(outcome.ending == .exit(1))
      expectEarlierLeak(outcome.output)
      #expect(outcome.output.contains("not checked for leaks: this process is a forked copy of the test process"))
      #expect(outcome.output.contains("the copy ended with 5"))
    }

    /// The first test leaks and fails; nothing else does.
    private func expectEarlierLeak(_ output: String) {
      #expect(output.ranges(of: "leak: retain cycle of Shop.").count == 1, "\(output)")
    }

    private func run(_ ending: String, _ library: Library) async throws -> Outcome {
      try await OutsidePackage.build.value
      let bundle = quoted(OutsidePackage.products.appending(path: "outsidePackageTests.xctest").path)
      let environment = "\(OutsidePackageTests.alone) ENDING=\(ending)"
      return try await runShell(
        "exec \(environment) \(bundle) \(library.arguments) 2>&1", deadline: .seconds(300))
    }
  }
}
