import Foundation
import Testing
import UndeadTestSupport

/// Every way in which a program can end.
@Suite(.timeLimit(.minutes(20))) struct SessionEndTests {
  @Test(arguments: [
    ("return", 3), ("exit", 4), ("err", 8), ("exit-in-thread", 5), ("last-thread", 0), ("two-exits", 9),
  ])
  func exitIsChecked(mode: String, status: Int32) throws {
    let child = try SessionChild(mode)
    #expect(try child.end() == .exited(status))
    let state = try #require(child.state)
    #expect(state.stage == .written)
    #expect(state.swiftSeen && !state.forked)
    #expect(state.snapshots == 1)
    #expect(state.newestSnapshot == "\(child.pid).1.1.undead")
    let snapshot = try child.snapshot()
    #expect(snapshot.isComplete)
    #expect(snapshot.metadata("trigger") == "exit")
    // Not the preloaded library, which has functions of the same names.
    #expect(snapshot.metadata("swiftRuntime")?.hasSuffix("/libswiftCore.so") == true)
    #expect(snapshot.metadata("pid") == String(child.pid))
    #expect(snapshot.counter("liveBlocks") > 0)
    #expect(child.files(".partial").isEmpty)
  }

  @Test(arguments: ["_exit", "quick_exit"])
  func exitWithoutHandlersIsNoted(mode: String) throws {
    let child = try SessionChild(mode)
    #expect(try child.end() == .exited(6))
    #expect(child.state?.stage == .unchecked)
    #expect(child.state?.message.contains(mode) == true)
    #expect(child.files(".undead").isEmpty)
  }

  @Test func abortLeavesTheStateAsItWas() throws {
    let child = try SessionChild("abort")
    #expect(try child.end() == .signalled(SIGABRT))
    #expect(child.state?.stage == .recording)
    #expect(child.state?.swiftSeen == true)
  }

  @Test func checkRunsBeforeExitHandlersAndDestructors() throws {
    let child = try SessionChild("order")
    #expect(try child.end() == .exited(0))
    #expect(child.text.contains("exit handler: written"))
    #expect(child.text.contains("destructor: written"))
    #expect(child.text.contains("errno 77"))
  }

  @Test(arguments: ["segv", "abort"])
  func crashOfTheSearchDoesNotReachTheProgram(kind: String) throws {
    let libraries = "\(try BuildProducts.preloadLibrary()) \(try ChildProgram.crasher())"
    let child = try SessionChild("return", environment: ["LD_PRELOAD": libraries, "CRASHER": kind])
    #expect(try child.end() == .exited(3))
    #expect(child.state?.stage == .failed)
    #expect(child.state?.message.contains("crashed") == true)
    #expect(child.files(".undead").isEmpty && child.files(".partial").isEmpty)
  }

  @Test func turnedOff() throws {
    let child = try SessionChild("return", environment: ["UNDEAD": "0"])
    #expect(try child.end() == .exited(3))
    #expect(child.state?.stage == .stoodAside)
    #expect(child.state?.message.contains("UNDEAD=0") == true)
  }
}
