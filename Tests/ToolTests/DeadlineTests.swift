import Foundation
import Testing
import UndeadTestSupport

/// What the tests do with a child that hangs.
@Suite(.timeLimit(.minutes(20))) struct DeadlineTests {
  @Test func aProcessThatHangsIsEndedWithAllThatItStartedAndTellsWhereItIs() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "sleep 1000 & sleep 1000"]
    try process.runUnblocked()
    while sleepers(startedBy: process.processIdentifier) < 2 { usleep(1000) }
    let deadline = Deadline(of: process.processIdentifier, command: "two sleepers", after: .seconds(1))
    process.waitUntilExit()
    let failure = #expect(throws: HungProcess.self) { try deadline.check(output: "what it wrote") }
    let text = try #require(failure).description
    #expect(text.contains("two sleepers") && text.contains("what it wrote"))
    #expect(text.ranges(of: ": sleep 1000").count == 2)
    #expect(text.ranges(of: "state S").count == 3, "\(text)")
    #expect(process.terminationReason == .uncaughtSignal)
  }

  private func sleepers(startedBy process: pid_t) -> Int {
    let children = text("/proc/\(process)/task/\(process)/children").split(separator: " ")
    return children.count { text("/proc/\($0)/stat").contains("(sleep) S") }
  }

  private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

  /// Beside much other work a process may need many times as long; one that computes without end is ended all the same.
  @Test(arguments: [
    ("for i in $(seq 20); do sleep 0.1; for j in $(seq 20000); do :; done; done; exit 4", false),
    ("while :; do :; done", true),
  ])
  func theTimeOfAProcessThatComputesIsThatOfTheProcessor(command: String, hangs: Bool) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    try process.runUnblocked()
    let deadline = Deadline(of: process.processIdentifier, command: command, after: .seconds(1))
    process.waitUntilExit()
    if hangs {
      #expect(throws: HungProcess.self) { try deadline.check() }
    } else {
      try deadline.check()
      #expect(process.terminationStatus == 4)
    }
  }

  @Test func aProcessThatEndsInTimeIsNotTouched() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "exit 3"]
    try process.runUnblocked()
    let deadline = Deadline(of: process.processIdentifier, command: "exit")
    process.waitUntilExit()
    try deadline.check()
    #expect(process.terminationStatus == 3)
  }
}
