import Foundation
import Testing
import UndeadReport
import UndeadSystem
import UndeadTestSupport

@testable import UndeadTool

/// Files that the tool reads because they lie in a folder: whose they must be.
@Suite(.timeLimit(.minutes(20))) struct FoundFileTests {
  private let sandbox: Sandbox
  private let leaking: [String: String]

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    leaking = ["FAKE_SNAPSHOT": try sandbox.write(SampleSnapshot.leaking(), to: "leaking.undead")]
  }

  private func run(in folder: String = ".") throws -> Sandbox.Output {
    try sandbox.command(
      ["sh", "-c", "cd '\(sandbox.path(folder))' && '\(sandbox.path("bin/undead"))' run -- true"], environment: leaking)
  }

  private func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: sandbox.path(name), withIntermediateDirectories: true)
  }

  @Test func onlyOwnFilesAreObeyed() throws {
    try makeFolder("project")
    let path = try sandbox.write("type:App.Owner\n", to: "project/.undead.supp")
    #expect(try run(in: "project").status == 0)
    func check(_ why: String) throws {
      let output = try run(in: "project")
      #expect(output.status == 23, "\(why)")
      #expect(output.error.contains("'\(path)' is ignored, since it \(why)"), "\(output.error)")
      #expect(output.error.components(separatedBy: "is ignored").count == 2, "said once")
    }
    chmod(path, 0o666)
    try check("can be written by everybody")
    chmod(path, 0o664)
    // Of the group that only this user is in.
    if geteuid() == 0 { try check("can be written by its group") }
    chmod(path, 0o644)
    chmod(sandbox.path("project"), 0o777)
    try check("lies in a folder that can be written by everybody")
    chmod(sandbox.path("project"), 0o1777)
    try check("lies in a folder that can be written by everybody")
    chmod(sandbox.path("project"), 0o755)
    #expect(try run(in: "project").status == 0)
    try FileManager.default.moveItem(atPath: path, toPath: sandbox.path("project/real"))
    #expect(symlink("real", path) == 0)
    try check("is a symbolic link")
    unlink(path)
    #expect(link(sandbox.path("project/real"), path) == 0)
    try check("has further names (hard links)")
    unlink(sandbox.path("project/real"))
    #expect(try run(in: "project").status == 0)
    guard geteuid() == 0 else { return }
    #expect(chown(path, 65534, 65534) == 0)
    try check("belongs to user ")
    #expect(chown(path, 0, 0) == 0 && chown(sandbox.path("project"), 65534, 65534) == 0)
    try check("lies in a folder that belongs to user ")
  }

}
