import Testing
import UndeadReport

@testable import UndeadTool

@Suite(.timeLimit(.minutes(20))) struct ToolchainProcessesTests {
  private func snapshot(of path: String) -> Snapshot {
    var snapshot = Snapshot()
    snapshot.setMetadata("path", path)
    snapshot.modules = [Snapshot.Module(low: 1, high: 2, bias: 0, path: path)]
    return snapshot
  }

  @Test func programsBesideTheCompilerAreTheToolchains() throws {
    let sandbox = try Sandbox()
    try sandbox.write("", to: "bin/swift-frontend")
    let directory = sandbox.path("bin")
    #expect(ToolchainProcesses.contains("\(directory)/swift-test"))
    #expect(!ToolchainProcesses.contains("\(sandbox.path("lib"))/App"))
    #expect(!ToolchainProcesses.contains("App"))
  }

  @Test func onlyBesideOtherPrograms() throws {
    let sandbox = try Sandbox()
    try sandbox.write("", to: "bin/swift-frontend")
    let driver = snapshot(of: sandbox.path("bin/swift-test"))
    var mixed = [driver, snapshot(of: sandbox.path("lib/Tests.xctest"))]
    let note = ToolchainProcesses.leaveOut(of: &mixed)
    #expect(note == "not reported: what 1 process of the Swift toolchain itself leaked")
    #expect(mixed.map(\.executablePath) == [driver.executablePath, sandbox.path("lib/Tests.xctest")])
    var alone = [driver]
    #expect(ToolchainProcesses.leaveOut(of: &alone) == nil)
  }
}
