import Foundation
import Testing
import UndeadTestSupport

/// Files that the instrument makes where others have put something of that name.
@Suite(.timeLimit(.minutes(20))) struct OwnFileTests {
  private let files: TemporaryDirectory
  private let program: String

  init() throws {
    files = try TemporaryDirectory()
    program = files.path("program")
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/platform/own_file.c")
      .path
    let sources = InstrumentSources.Layer.platform.files.filter { $0.hasSuffix("/own_file.c") }
    try Recorder.run("clang", ["-O1"] + InstrumentSources.includeOptions + [fixture] + sources + ["-o", program])
      .expectSuccess()
  }

  private func run(_ mode: String, _ name: String) throws -> (status: Int32, text: String) {
    let outcome = try Recorder.run(program, [mode, name.hasPrefix("/") ? name : files.path(name)])
    return (outcome.status, outcome.output.trimmingCharacters(in: .newlines))
  }

  private func put(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: files.path(name)))
  }

  @Test func takesItsOwnFileOnly() throws {
    try put("precious", "precious")
    #expect(try run("own", "new").status == 0 && files.contents("new") == "own")
    try put("longer than that", "mine")
    #expect(try run("own", "mine").status == 0 && files.contents("mine") == "ownger than that", "it is gone on with")
    #expect(symlink("precious", files.path("link")) == 0)
    #expect(link(files.path("precious"), files.path("hard")) == 0)
    #expect(mkfifo(files.path("pipe"), 0o600) == 0)
    for name in ["link", "hard", "pipe"] {
      #expect(try run("own", name).status == 0 && files.contents(name) == "own", "\(name)")
    }
    #expect(files.contents("precious") == "precious")
    #expect(mkdir(files.path("folder"), 0o700) == 0)
    #expect(try run("own", "folder").status == 1 && run("own", "none/file").status == 1)
  }

  @Test(.enabled(if: geteuid() == 0, "needs another user's files")) func takesNobodyElsesFile() throws {
    try put("theirs", "theirs")
    #expect(chown(files.path("theirs"), 65534, 65534) == 0 && chmod(files.path("theirs"), 0o666) == 0)
    let before = open(files.path("theirs"), O_RDONLY)
    defer { close(before) }
    #expect(try run("own", "theirs").status == 0 && files.contents("theirs") == "own")
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(read(before, &bytes, bytes.count) == 6, "what the other has open is another file")
    var status = stat()
    #expect(stat(files.path("theirs"), &status) == 0 && status.st_uid == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func namesBesideAFileAreNeverTheSame() throws {
    let names = Set(try (0..<20).map { _ in try run("beside", "file").text })
    #expect(names.count == 20)
    #expect(names.allSatisfy { $0.hasPrefix(files.path(".undead.")) && $0.hasSuffix(".partial") })
  }

  @Test func findsWhereLinksLead() throws {
    try put("x", "file")
    #expect(symlink("file", files.path("link")) == 0 && symlink(files.path("link"), files.path("second")) == 0)
    #expect(symlink("loop", files.path("loop")) == 0 && symlink("none", files.path("open")) == 0)
    for (name, place) in [("file", "file"), ("link", "file"), ("second", "file"), ("open", "none"), ("new", "new")] {
      #expect(try run("destination", name) == (0, files.path(place)), "\(name)")
    }
    #expect(try run("destination", "loop").status == ELOOP)
    guard geteuid() == 0 else { return }
    #expect(mkdir(files.path("shared"), 0o777) == 0 && chmod(files.path("shared"), 0o1777) == 0)
    #expect(symlink(files.path("file"), files.path("shared/link")) == 0)
    #expect(try run("destination", "shared/link") == (0, files.path("file")))
    #expect(lchown(files.path("shared/link"), 65534, 65534) == 0)
    #expect(try run("destination", "shared/link").status == EACCES)
  }
}
