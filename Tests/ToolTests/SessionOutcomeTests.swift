import Testing

@testable import UndeadTool

/// What the states of a session amount to.
@Suite(.timeLimit(.minutes(20))) struct SessionOutcomeTests {
  private static let swift: UInt32 = 1
  private static let forked: UInt32 = 2

  /// A state as the library writes it.
  private func state(
    _ pid: Int32, _ stage: ProcessState.Stage, flags: UInt32 = 0, message: String = "", snapshot: String = "",
    parent: UInt32 = 1, executable: String? = nil
  ) throws -> ProcessState {
    var bytes = [UInt8](repeating: 0, count: ProcessState.size)
    func set(_ number: UInt32, at offset: Int) {
      for byte in 0..<4 { bytes[offset + byte] = UInt8(truncatingIfNeeded: number >> UInt32(8 * byte)) }
    }
    func set(_ text: String, at offset: Int) {
      bytes.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
    }
    set("UNDEADST", at: 0)
    for (offset, number) in [(8, 1), (12, UInt32(pid)), (16, parent), (20, 2), (24, stage.rawValue), (28, flags)] {
      set(number, at: offset)
    }
    set(message, at: 128)
    set(snapshot, at: 640)
    set(executable ?? "/bin/p\(pid)", at: 1152)
    return try #require(ProcessState(bytes))
  }

  private func outcome(
    _ states: [ProcessState], _ ending: Ending = .exited(0), running: Set<Int32> = []
  ) -> SessionOutcome {
    SessionOutcome(
      states: states, program: 10, ending: ending, isFinal: { !$0.hasPrefix("early") }, isRunning: running.contains)
  }

  @Test func manyThatEndedAlikeAreToldAsOne() throws {
    let children = try (20..<60).map { try state($0, .recording, flags: Self.swift) }
    let outcome = outcome([try state(10, .snapshotFailed, flags: Self.swift, message: "no memory")] + children)
    let reason = try #require(outcome.reason)
    #expect(reason.hasPrefix("the check failed: no memory; 40 processes were not checked: they were killed"))
    #expect(reason.hasSuffix(" and 37 more)"), "\(reason)")
  }

  @Test func readsStates() throws {
    let state = try state(10, .scanning, flags: 3, message: "why", snapshot: "10.2.1.undead")
    #expect(state.pid == 10 && state.generation == 2 && state.stage == .scanning)
    #expect(state.swiftSeen && state.forkedWithoutExec)
    #expect(state.message == "why" && state.newestSnapshot == "10.2.1.undead" && state.executable == "/bin/p10")
    #expect(ProcessState([UInt8](repeating: 0, count: 4096)) == nil)
    #expect(ProcessState(Array("UNDEADST".utf8)) == nil)
  }

  @Test func takesTheProgramFirst() throws {
    let states = [
      try state(5, .snapshotWritten, flags: Self.swift, snapshot: "5"),
      try state(10, .snapshotWritten, flags: Self.swift, snapshot: "10"),
    ]
    let result = outcome(states)
    #expect(result.snapshots == ["10", "5"])
    #expect(result.failure == nil && result.notes.isEmpty && !result.isWithoutSwift)
  }

  @Test func doesNotTakeASnapshotOnRequestForTheEnd() throws {
    let result = outcome([try state(10, .snapshotWritten, flags: Self.swift, snapshot: "early")], .signalled(9))
    #expect(result.snapshots.isEmpty)
    #expect(result.failure?.contains("SIGKILL") == true)
  }

  @Test func tellsProgramsWithoutSwift() throws {
    #expect(outcome([try state(10, .exitedWithoutCheck), try state(11, .recording)]).isWithoutSwift)
    #expect(!outcome([try state(10, .stoodAside)]).isWithoutSwift)
    #expect(!outcome([try state(10, .aboutToExec)]).isWithoutSwift)
    #expect(!outcome([]).isWithoutSwift)
  }

  @Test func saysWhyTheProgramWasNotChecked() throws {
    func failure(_ stage: ProcessState.Stage, _ ending: Ending = .exited(0)) throws -> String {
      try #require(outcome([try state(10, stage, flags: Self.swift, message: "MESSAGE")], ending).failure)
    }
    #expect(try failure(.stoodAside) == "MESSAGE")
    #expect(try failure(.snapshotFailed).contains("MESSAGE"))
    #expect(try failure(.scanning, .signalled(15)).contains("SIGTERM during the check"))
    #expect(try failure(.recording, .signalled(11)).contains("SIGSEGV"))
    #expect(try failure(.exitedWithoutCheck).contains("_exit"))
    #expect(try failure(.aboutToExec).contains("exec"))
    #expect(outcome([]).failure?.contains("not loaded") == true)
  }

  @Test func notesChildrenThatWereNotChecked() throws {
    let main = try state(10, .snapshotWritten, flags: Self.swift, snapshot: "10")
    let result = outcome(
      [
        main, try state(11, .recording, flags: Self.swift), try state(12, .recording, flags: Self.swift),
        try state(13, .exitedWithoutCheck, flags: Self.swift | Self.forked), try state(14, .recording),
        try state(15, .stoodAside, message: "MESSAGE"),
      ], running: [11])
    #expect(result.failure == nil)
    #expect(result.notes.count == 2)
    #expect(result.notes.first?.contains("process 11 (/bin/p11) still runs") == true)
    #expect(result.notes.last?.contains("MESSAGE") == true)
    #expect(result.deaths == "not checked: 1 process that the program started and that died: /bin/p12")
  }

  /// The program's own status decides what the death of a child means.
  @Test func deathsOfChildrenAreToldInOneNote() throws {
    let main = try state(10, .snapshotWritten, flags: Self.swift, snapshot: "10")
    let result = outcome(try [main] + (11...15).map { try state($0, .recording, flags: Self.swift) })
    #expect(result.notes.isEmpty && result.failure == nil)
    #expect(
      result.deaths
        == "not checked: 5 processes that the program started and that died: /bin/p11, /bin/p12, /bin/p13 and 2 more")
  }

  /// A test that is to end its process runs in a process of its own, which the test process starts.
  @Test func testsThatEndTheirProcess() throws {
    func test(_ pid: Int32, parent: UInt32, _ stage: ProcessState.Stage, snapshot: String = "") throws -> ProcessState {
      try state(pid, stage, flags: Self.swift, snapshot: snapshot, parent: parent, executable: "/b/AppTests.xctest")
    }
    let shell = try state(11, .recording, parent: 10, executable: "/bin/sh")
    func outcome(_ states: [ProcessState], running: Set<Int32> = []) -> TestOutcome {
      TestOutcome(states: states, isFinal: { _ in true }, isRunning: running.contains)
    }
    let main = try test(10, parent: 1, .snapshotWritten, snapshot: "10")
    let dead = [try test(12, parent: 10, .recording), try test(13, parent: 11, .exitedWithoutCheck)]
    let result = outcome([main, shell] + dead)
    #expect(result.unchecked.isEmpty && result.snapshots == ["10"] && result.testProcesses == 1)
    #expect(
      result.notes == [
        "checked: 1 of 1 test process",
        "not checked: 2 processes that tests started and that died: /b/AppTests.xctest, /b/AppTests.xctest",
      ])
    #expect(outcome([main, shell] + dead, running: [12]).unchecked.count == 1)
    let other = try test(14, parent: 1, .recording)
    #expect(outcome([main, other]).unchecked.count == 1, "a test process of its own that died is not checked")
    #expect(outcome([main, try test(15, parent: 10, .snapshotFailed)]).unchecked.count == 1)
  }

  @Test func isAFailureIfOnlyUncheckedChildrenHadSwift() throws {
    let result = outcome([try state(10, .exitedWithoutCheck), try state(11, .recording, flags: Self.swift)])
    #expect(!result.isWithoutSwift)
    #expect(result.failure?.contains("process 11") == true)
  }
}
