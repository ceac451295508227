import Foundation
import Testing
import UndeadReport
import UndeadTestSupport

/// `undead test` on a real package with both test libraries; one after the other, since each builds.
@Suite(.serialized, .timeLimit(.minutes(20))) struct PackageTests {
  private let sandbox: Sandbox
  private static let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures/LeakyPackage")
  /// Kept from test to test, so that each configuration is built once.
  private static let scratch = Result { try TemporaryDirectory.untilExit().path }

  private static let leaky: Set<String> = [
    "XCTests.LeakyCases/testCycle", "XCTests.LeakyCases/testClosure", "XCTests.LeakyCases/testThrowing",
    "XCTests.LeakyCases/testAsync", "TestingTests/plain()", "TestingTests.Leaky/parameterised(number:)",
    "TestingTests.Leaky/suspended()", "TestingTests.Leaky/inTask()", "TestingTests.Leaky/waiting()",
    "TestingTests.Leaky.Inner/nested()", "TestingTests.Leaky/throughHelper()",
  ]

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installRealLibrary()
    try FileManager.default.copyItem(at: Self.fixture, to: sandbox.directory.appending(path: "package"))
  }

  private func test(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (output: Sandbox.Output, report: LeakReport) {
    let output = try sandbox.command(
      [
        sandbox.path("bin/undead"), "test", "--report", "json=report.json", "--", "--package-path",
        sandbox.path("package"), "--scratch-path", try Self.scratch.get(), "-j", "2",
      ] + arguments, environment: environment)
    let data = try Data(contentsOf: sandbox.directory.appending(path: "report.json"))
    return (output, try JSONRenderer.parse(data))
  }

  private func expectLeaks(_ report: LeakReport, in tests: Set<String> = leaky) {
    #expect(Set(report.leaks.map { $0.test?.fullName ?? "none: \($0.objects.map(\.type))" }) == tests)
    for leak in report.leaks where leak.suspended == nil {
      #expect(leak.cycle?.map(\.field).sorted() == ["child", "parent"])
    }
  }

  @Test func ofBothLibrariesEachTestGetsItsLeaks() throws {
    let (output, report) = try test([])
    #expect(output.status == 23, "\(output.error)")
    #expect(output.out.contains("the tests print as ever\n"))
    expectLeaks(report)
    #expect(report.summary.complete)
    #expect(report.summary.notes.contains("checked: 2 of 2 test processes"))
    #expect(report.leaks.allSatisfy { $0.test?.file?.hasSuffix("Tests.swift") ?? false && $0.test?.line != nil })

    let clean = try test(["--skip-build", "--filter", "CleanCases"])
    #expect(clean.output.status == 0, "\(clean.output.error)")
    #expect(clean.report.leaks.isEmpty && clean.report.summary.complete)
    #expect(clean.report.knownLeaks.count == 1)

    try expectSymbolizer(asked: false, for: "CleanCases")
    try expectSymbolizer(asked: true, for: "LeakyCases")

    let failing = try test(["--skip-build"], environment: ["LEAKY_FAIL": "1"])
    #expect(failing.output.status == 1)
    expectLeaks(failing.report)
  }

  /// Files and lines are looked for only where something is reported with them.
  private func expectSymbolizer(asked: Bool, for filter: String) throws {
    let trace = sandbox.path("asked-for-\(filter)")
    let symbolizer = try sandbox.write("#!/bin/sh\ntouch \(trace)\n", to: "symbolizer-for-\(filter)", mode: 0o755)
    let output = try sandbox.command(
      [
        sandbox.path("bin/undead"), "test", "--", "--package-path", sandbox.path("package"), "--scratch-path",
        try Self.scratch.get(), "--skip-build", "--filter", filter,
      ], environment: ["UNDEAD_SYMBOLIZER": symbolizer])
    #expect(output.status == (asked ? 23 : 0), "\(output.error)")
    #expect(FileManager.default.fileExists(atPath: trace) == asked)
    if !asked { #expect(output.error.contains("1 known")) }
  }

  @Test func inParallelACrashCostsItsOwnProcessOnly() throws {
    let (output, report) = try test(["--parallel", "--num-workers", "2"], environment: ["LEAKY_CRASH": "1"])
    #expect(output.status == 1)
    expectLeaks(report)
    #expect(!report.summary.complete)
    #expect(report.summary.notes.contains { $0.contains("XCTests.CleanCases/testCrashesIfAsked) was not checked") })
  }

  @Test(.enabled(if: Thorough.isOn, "with UNDEAD_THOROUGH=1: it builds the package once more"))
  func inReleaseBuildsEachTestGetsItsLeaks() throws {
    let (output, report) = try test(["-c", "release", "-Xswiftc", "-enable-testing"])
    #expect(output.status == 23, "\(output.error)")
    expectLeaks(report)
  }
}
