import Foundation
import Testing
import UndeadTestSupport

/// A package that uses the test libraries as its users do: its tests that leak fail, with the type and the path, and
/// no other test fails.
///
/// One after the other and beside the corpus: they would be the last in the queue at its gate, and then run alone.
@Suite(.serialized) struct OutsidePackageTests {
  @Test func markersAreThere() throws {
    let package = try OutsidePackage()
    #expect(package.markers.count > 40)
    #expect(package.complaints(about: []).count == package.markers.count)
  }

  @Test func failuresAreReadFromBothFormats() {
    let failures = OutsidePackage.failures(
      in: """
        Test Case 'Leaky.testA' started at 1970-01-01 00:00:00.000
        /x/Tests/A.swift:12: error: Leaky.testA : failed - leak: retain cycle of A
            .owner → A
        Test Case 'Leaky.testA' failed (0.1 seconds)
        ✘ Test b() recorded an issue at B.swift:7:3: Issue recorded
        ↳ leak: retain cycle of B
            .child → B
        ✘ Test b() failed after 0.1 seconds with 1 issue.
        """)
    #expect(failures.map(\.place) == ["A.swift:12", "B.swift:7"])
    #expect(failures.map(\.test) == ["Leaky.testA", "b()"])
    #expect(failures.first?.text == "failed - leak: retain cycle of A\n    .owner → A")
    #expect(failures.last?.text == "Issue recorded\n↳ leak: retain cycle of B\n    .child → B")
  }

  /// A process for each test of XCTest makes what one process makes, in twice the time: with ``Thorough``.
  @Test(arguments: ["swift test", "undead test"] + (Thorough.isOn ? ["swift test --parallel"] : []))
  func everyLeakyTestFailsAndNoOtherOne(command: String) async throws {
    let package = try OutsidePackage()
    try await OutsidePackage.build.value
    let words = command.split(separator: " ").map(String.init)
    let program = words[0] == "undead" ? quoted(Tool.path) + " test --" : "swift test"
    let options = words.dropFirst(2).joined(separator: " ") + " --skip-build " + OutsidePackage.options
    for run in 1...Tool.repetitions {
      let outcome = try await runShell("exec \(Self.alone) \(program) \(options) 2>&1", deadline: .seconds(900))
      let complaints = package.complaints(about: OutsidePackage.failures(in: outcome.output))
      #expect(outcome.ending == .exit(1), "run \(run) of \(command): \(outcome.output.suffix(2000))")
      #expect(complaints.isEmpty, "run \(run) of \(command): \(complaints.joined(separator: "\n"))")
    }
  }

  /// Without the settings of the test run around this one.
  static let alone = "env -u UNDEAD -u UNDEAD_REQUIRE -u UNDEAD_XCTEST -u UNDEAD_SESSION"
}
