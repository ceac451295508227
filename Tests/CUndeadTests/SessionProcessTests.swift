import Foundation
import Testing
import UndeadReport

/// Processes that a program starts or becomes, and the surroundings that it must find unchanged.
@Suite(.timeLimit(.minutes(20))) struct SessionProcessTests {
  @Test(arguments: ["fork", "bare-fork"])
  func forkedChildrenAreChecked(mode: String) throws {
    let child = try SessionChild(mode)
    #expect(try child.end() == .exited(0))
    #expect(child.text == "child exited 1\n")
    #expect(child.state?.stage == .written)
    let forked = try #require(child.otherStates.first)
    #expect(forked.forked && forked.stage == .written && forked.parent == child.pid)
    let file = child.session.appendingPathComponent(forked.newestSnapshot).path
    #expect(try Snapshot(contentsOfFile: file).metadata("forkedFrom") == String(child.pid))
  }

  @Test func forkedChildWithoutExitHandlers() throws {
    let child = try SessionChild("fork-quick")
    #expect(try child.end() == .exited(0))
    #expect(child.text == "child exited 1\n")
    #expect(child.otherStates.map(\.stage) == [.unchecked])
    #expect(child.state?.stage == .written)
  }

  @Test(arguments: ["vfork", "spawn"])
  func startedProgramsAreChecked(mode: String) throws {
    let child = try SessionChild(mode)
    #expect(try child.end() == .exited(0))
    #expect(child.text == "child exited 3\n")
    #expect(child.state?.stage == .written)
    let other = try #require(child.otherStates.first)
    #expect(other.stage == .written && !other.forked && other.generation == 1)
  }

  @Test func vforkChildLeavesTheParentAlone() throws {
    let child = try SessionChild("vfork-fails")
    #expect(try child.end() == .exited(0))
    #expect(child.text == "child exited 127\n")
    #expect(child.state?.stage == .written)
    #expect(child.otherStates.isEmpty)
  }

  @Test func execStartsAnew() throws {
    let child = try SessionChild("exec")
    #expect(try child.end() == .exited(3))
    #expect(child.state?.generation == 2)
    #expect(child.state?.stage == .written)
    #expect(try child.snapshot(generation: 2).metadata("trigger") == "exit")
  }

  @Test func execOfWhatCannotBeCoveredIsNoted() throws {
    let child = try SessionChild("exec-uncovered")
    #expect(try child.end() == .exited(3))
    #expect(child.state?.stage == .aboutToExec)
  }

  @Test func failedExecChangesNothing() throws {
    let child = try SessionChild("exec-fails")
    #expect(try child.end() == .exited(3))
    #expect(child.state?.stage == .written)
  }

  @Test func descriptorsAreThoseOfTheProgram() throws {
    let child = try SessionChild("descriptors")
    #expect(try child.end() == .exited(0))
    #expect(child.text == "0 1 2 then 3\n")
  }

  @Test func closedStandardStreams() throws {
    let child = try SessionChild("return", shell: "exec 0<&- 1>&- 2>&-")
    #expect(try child.end() == .exited(3))
    #expect(child.state?.stage == .written)
  }

  @Test func fileThatCannotBeWritten() throws {
    let child = try SessionChild("file-limit")
    #expect(try child.end() == .exited(3))
    #expect(child.state?.stage == .failed)
    #expect(child.state?.message.contains("File too large") == true)
    #expect(child.files(".undead").isEmpty && child.files(".partial").isEmpty)
  }

  @Test func directoryThatWentAway() throws {
    let child = try SessionChild("without-directory")
    #expect(try child.end() == .exited(3))
  }

  @Test func directoryThatIsNotThere() throws {
    let child = try SessionChild("return", environment: ["UNDEAD_SESSION": "/nowhere/at/all"])
    #expect(try child.end() == .exited(3))
    #expect(child.text.isEmpty)
  }

  @Test(arguments: [60_000, 120_000, 250_000, 500_000])
  func littleAddressSpace(kilobytes: Int) throws {
    let plain = try SessionChild("return", shell: "unset LD_PRELOAD; ulimit -v \(kilobytes)")
    let expected = try plain.end()
    let child = try SessionChild("return", shell: "ulimit -v \(kilobytes)")
    #expect(try child.end() == expected)
  }
}
