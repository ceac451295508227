import Foundation
import Testing

/// Signals that end a program, that it handles itself, and that ask for a snapshot.
@Suite(.timeLimit(.minutes(20))) struct SessionSignalTests {
  @Test(arguments: ["sleep", "spin", "allocate", "fork-often"], [SIGTERM, SIGINT])
  func programIsCheckedAndDiesOfTheSignal(mode: String, signal: Int32) throws {
    let child = try SessionChild(mode)
    try child.waitFor("ready")
    kill(child.pid, signal)
    #expect(try child.end() == .signalled(signal))
    #expect(child.text == "ready\n")
    #expect(child.state?.stage == .written)
    #expect(try child.snapshot().metadata("trigger") == "signal \(signal)")
  }

  /// As by `timeout`, which sends it to its child and then to its group.
  @Test(arguments: ["sleep", "spin", "allocate"], [SIGTERM, SIGINT])
  func aSignalThatComesTwiceAtOnceIsOne(mode: String, signal: Int32) throws {
    let child = try SessionChild(mode)
    try child.waitFor("ready")
    for _ in 0..<3 { kill(child.pid, signal) }
    #expect(try child.end() == .signalled(signal))
    #expect(try child.snapshot().metadata("trigger") == "signal \(signal)")
  }

  @Test func programThatHandlesTheSignalIsCheckedAtItsExit() throws {
    let child = try SessionChild("handled")
    try child.waitFor("ready")
    kill(child.pid, SIGTERM)
    #expect(try child.end() == .exited(7))
    #expect(try child.snapshot().metadata("trigger") == "exit")
  }

  @Test func signalsThatAreReadStayUntouched() throws {
    let child = try SessionChild("signalfd")
    try child.waitFor("ready")
    kill(child.pid, SIGTERM)
    #expect(try child.end() == .exited(2))
    #expect(child.text.contains("signal 15"))
  }

  @Test func ignoredSignalsStayIgnored() throws {
    let child = try SessionChild("wait-for-interrupt", shell: "trap '' INT")
    try child.waitFor("ready")
    kill(child.pid, SIGINT)
    kill(child.pid, SIGUSR2)
    #expect(try child.end() == .exited(2))
    #expect(child.text.contains("ignored\n") && !child.text.contains("not ignored"))
  }

  @Test func programSeesTheDefaultAction() throws {
    let child = try SessionChild("query")
    #expect(try child.end() == .exited(0))
    #expect(child.text == "11111\n")
  }

  @Test func signalsAreLeftAloneIfTheUserSaysSo() throws {
    let child = try SessionChild("sleep", environment: ["UNDEAD_CHECK_SIGNALS": "0"])
    try child.waitFor("ready")
    kill(child.pid, SIGTERM)
    #expect(try child.end() == .signalled(SIGTERM))
    #expect(child.state?.stage == .recording)
  }

  @Test func snapshotsOnRequest() throws {
    let child = try SessionChild("sleep", environment: ["UNDEAD_REQUEST_SIGNAL": "40"])
    try child.waitFor("ready")
    for number in 1...3 {
      kill(child.pid, 40)
      try child.waitForState { $0.answers == number }
      let snapshot = try child.snapshot(number)
      #expect(snapshot.metadata("trigger") == "request")
      #expect(snapshot.isComplete)
    }
    try child.waitForState { $0.stage == .recording }
    kill(child.pid, SIGTERM)
    #expect(try child.end() == .signalled(SIGTERM))
    #expect(child.text == "ready\n")
    #expect(try child.snapshot(4).metadata("trigger") == "signal 15")
  }

  @Test(arguments: ["nap", "nap-poll", "nap-pselect", "nap-epoll"])
  func requestDoesNotWakeTheProgram(mode: String) throws {
    let child = try SessionChild(mode, environment: ["UNDEAD_REQUEST_SIGNAL": "40"])
    try child.waitFor("ready")
    kill(child.pid, 40)
    try child.waitForState { $0.answers == 1 }
    try Data().write(to: child.session.appendingPathComponent("over"))
    #expect(try child.end() == .exited(0))
    #expect(child.text == "ready\nwaited\n")
  }
}
