import Foundation
import Testing
import UndeadReport
import UndeadSystem
import UndeadTestSupport

@testable import UndeadTool

/// Files that the tool reads because they lie in a folder: whose they must be, and what they may ask for.
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

  // MARK: Whose it is

  @Test(arguments: [".undead.options", ".undead.supp"]) func onlyOwnFilesAreObeyed(_ name: String) throws {
    try makeFolder("project")
    let text = name == ".undead.options" ? "--exit-code 7\n" : "type:App.Owner\n"
    let path = try sandbox.write(text, to: "project/\(name)")
    let obeyed: Int32 = name == ".undead.options" ? 7 : 0
    #expect(try run(in: "project").status == obeyed)
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
    #expect(try run(in: "project").status == obeyed)
    try FileManager.default.moveItem(atPath: path, toPath: sandbox.path("project/real"))
    #expect(symlink("real", path) == 0)
    try check("is a symbolic link")
    unlink(path)
    #expect(link(sandbox.path("project/real"), path) == 0)
    try check("has further names (hard links)")
    unlink(sandbox.path("project/real"))
    #expect(try run(in: "project").status == obeyed)
    guard geteuid() == 0 else { return }
    #expect(chown(path, 65534, 65534) == 0)
    try check("belongs to user ")
    #expect(chown(path, 0, 0) == 0 && chown(sandbox.path("project"), 65534, 65534) == 0)
    try check("lies in a folder that belongs to user ")
  }

  // MARK: What options may ask for

  private func add(_ line: String) throws -> [String] {
    var options = StandingOptions()
    try options.add(
      file: line, path: sandbox.path(".undead.options"), command: line.hasPrefix("heap") ? "heap" : "run",
      table: .ofThisTool)
    return options.arguments
  }

  @Test(arguments: [
    ("--output ../report", "is not in the folder"), ("--output /etc/cron.d/x", "is not in the folder"),
    ("--output build/../../x", "is not in the folder"), ("--report json=../x", "is not in the folder"),
    ("--save ../x", "is not in the folder"), ("--heap ../x", "is not in the folder"),
    ("--baseline ../x", "is not in the folder"), ("--output .git/config", "belongs to git"),
    ("--output sub/.GIT/hooks/post-checkout", "belongs to git"), ("--output link/x", "behind the symbolic link"),
    ("--output file-link", "is a symbolic link"), ("--output pipe", "is no regular file"),
    ("--output Package.swift", "is there already, and in git"), ("--report json=Sources/App.swift", "in git"),
    ("--suppressions /dev/zero", "is no regular file"), ("--suppressions pipe", "is no regular file"),
    ("--update-baseline", "may not stand in a file"), ("heap --sysroot .", "may not stand in a file"),
    ("heap --binaries .", "may not stand in a file"),
  ])
  func isRefused(_ line: String, _ words: String) throws {
    try makeRepository()
    let error = #expect(throws: ToolError.self) { try add(line) }
    #expect(error?.status == 64 && error?.message.contains(words) ?? false, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    "--output report", "--report junit=build/leaks.xml", "--save sub/kept", "--heap missing/x", "--baseline known",
    "--suppressions known", "--baseline Package.swift",
  ])
  func isAllowed(_ line: String) throws {
    try makeRepository()
    #expect(try add(line).count == 1)
  }

  private func makeRepository() throws {
    for folder in [".git", "sub", "build", "Sources"] { try makeFolder(folder) }
    for file in ["Package.swift", "Sources/App.swift", "known", "report"] { try sandbox.write("", to: file) }
    try sandbox.write("DIRC\0\0\0\u{2}\0\0\0\u{2}Package.swift\0Sources/App.swift\0", to: ".git/index")
    #expect(symlink("/tmp", sandbox.path("link")) == 0 && symlink("known", sandbox.path("file-link")) == 0)
    #expect(mkfifo(sandbox.path("pipe"), 0o600) == 0)
  }

  @Test func gitKnowsItsFiles() throws {
    try makeRepository()
    let folder = sandbox.directory.path
    #expect(GitIndex.tracks(["Package.swift"], in: folder) && !GitIndex.tracks(["report"], in: folder))
    #expect(GitIndex.tracks(["App.swift"], in: sandbox.path("Sources")))
    let plain = try TemporaryDirectory()
    #expect(!GitIndex.tracks(["Package.swift"], in: plain.path))
    try Data("DIRC\0\0\0\u{4}".utf8).write(to: sandbox.directory.appending(path: ".git/index"))
    #expect(GitIndex.tracks(["report"], in: folder), "names are not to be read there")
  }

  /// A new option has a place among those that may stand in a file, or is refused there.
  @Test func everyOptionIsJudged() {
    let table = OptionTable.ofThisTool
    let never: Set = ["--help", "-h", "-help", "--version", "--no-config"]
    for command in table.commands.sorted() {
      for option in table.options(of: command) where Set(option.names).isDisjoint(with: never) {
        let name = option.names.first { $0.hasPrefix("--") } ?? option.names[0]
        let kind = FileOption(name)
        #expect(kind != nil, "\(command) \(name) is in no list of FileOption")
        if option.isPath, case .plain? = kind { Issue.record("\(command) \(name) names a file") }
      }
    }
  }
}
