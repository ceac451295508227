import Foundation
import Testing
import UndeadSystem
import UndeadTestSupport

@testable import UndeadTool

/// Files that are written: the old one is whole until the new one is.
@Suite(.timeLimit(.minutes(20))) struct FileReplacementTests {
  private let files: TemporaryDirectory

  init() throws { files = try TemporaryDirectory() }

  private func write(_ text: String, _ name: String) -> Int32? {
    FileReplacement.write(text.utf8, to: name.hasPrefix("/") ? name : files.path(name))
  }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: files.path)) ?? []).sorted()
  }

  @Test func replacesAFileAndKeepsItsPermissions() throws {
    #expect(write("old", "file") == nil)
    #expect(chmod(files.path("file"), 0o640) == 0)
    let before = try #require(System.status(of: files.path("file")))
    #expect(write("new", "file") == nil)
    let after = try #require(System.status(of: files.path("file")))
    #expect(files.contents("file") == "new" && names == ["file"])
    #expect(after.st_ino != before.st_ino && after.st_mode == before.st_mode)
  }

  @Test func whatFailsLeavesTheOldFile() {
    #expect(write("old", "file") == nil)
    let code = FileReplacement.write(to: files.path("file")) { write in
      _ = [UInt8]("half".utf8).withUnsafeBytes(write)
      return EIO
    }
    #expect(code == EIO && files.contents("file") == "old" && names == ["file"])
    #expect(FileReplacement.obstacle(at: files.path("file")) == nil && files.contents("file") == "old")
    #expect(FileReplacement.obstacle(at: files.path("new")) == nil && names == ["file"])
    #expect(FileReplacement.obstacle(at: files.path("no/new")) == ENOENT)
    #expect(FileReplacement.obstacle(at: files.path) == EISDIR)
  }

  @Test func linksStayAndWhatTheyLeadToIsReplaced() throws {
    #expect(write("old", "file") == nil)
    #expect(symlink("file", files.path("link")) == 0 && symlink(files.path("link"), files.path("second")) == 0)
    #expect(symlink("missing", files.path("open")) == 0 && symlink("loop", files.path("loop")) == 0)
    #expect(write("new", "second") == nil && files.contents("file") == "new")
    #expect(write("made", "open") == nil && files.contents("missing") == "made")
    #expect(write("x", "loop") == ELOOP)
    #expect(SymbolicLink.target(files.path("second")) == files.path("link"))
    #expect(names == ["file", "link", "loop", "missing", "open", "second"])
  }

  @Test func whatIsNoFileIsWrittenTo() throws {
    #expect(symlink("/dev/full", files.path("full")) == 0 && mkfifo(files.path("pipe"), 0o600) == 0)
    #expect(write("x", "full") == ENOSPC)
    #expect(SymbolicLink.target(files.path("full")) == "/dev/full")
    let pipe = open(files.path("pipe"), O_RDWR | O_NONBLOCK)
    defer { close(pipe) }
    #expect(write("through", "pipe") == nil)
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(read(pipe, &bytes, bytes.count) == 7)
    #expect(names == ["full", "pipe"])
    // A stream goes on where it stands, as the shell's own output does.
    let file = open(files.path("stream"), O_RDWR | O_CREAT, 0o600)
    defer { close(file) }
    #expect(System.write(Array("a".utf8), to: file) == nil)
    #expect(write("b", "/dev/fd/\(file)") == nil && System.write(Array("c".utf8), to: file) == nil)
    #expect(files.contents("stream") == "abc")
  }

  @Test func addsWholeTextsOnly() {
    #expect(FileReplacement.append(Array("a".utf8), to: files.path("file")) == nil)
    #expect(FileReplacement.append(Array("b".utf8), to: files.path("file"), limit: 2) == nil)
    #expect(FileReplacement.append(Array("c".utf8), to: files.path("file"), limit: 2) == EFBIG)
    #expect(files.contents("file") == "ab")
  }

  /// What a killed process left neither blocks another one nor stays.
  @Test func leftOversGo() throws {
    let old = files.path(".undead-0123456789abcdef")
    let young = files.path(".undead-0123456789abcdeg")
    for path in [old, young, files.path(".undead-options"), files.path("\(getpid())")] {
      try Data("x".utf8).write(to: URL(filePath: path))
    }
    // A writer that takes an hour holds a lock.
    let locked = files.path(".undead-0123456789abcdeh")
    let writer = open(locked, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(writer) }
    #expect(flock(writer, LOCK_EX) == 0)
    for path in [old, locked] {
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: path)
    }
    #expect(write("new", "file") == nil)
    #expect(
      Set(names) == [
        "file", ".undead-0123456789abcdeg", ".undead-0123456789abcdeh", ".undead-options", "\(getpid())",
      ])
  }

  // MARK: As root

  @Test(.enabled(if: geteuid() == 0, "needs another user's files")) func leftOversOfOthersStay() throws {
    let theirs = files.path(".undead-0123456789abcdef")
    try Data("x".utf8).write(to: URL(filePath: theirs))
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: theirs)
    #expect(chown(theirs, 65534, 65534) == 0)
    #expect(write("new", "file") == nil && names.count == 2)
  }

  @Test(.enabled(if: geteuid() == 0, "needs another user's files")) func theOwnerStays() throws {
    #expect(write("old", "file") == nil && chown(files.path("file"), 65534, 65533) == 0)
    #expect(write("new", "file") == nil)
    let status = try #require(System.status(of: files.path("file")))
    #expect(status.st_uid == 65534 && status.st_gid == 65533 && files.contents("file") == "new")
  }

  /// In a folder as /tmp is: a link, a file and a pipe that somebody else has put where the report is to go.
  @Test(.enabled(if: geteuid() == 0, "needs another user's files")) func whatOthersPlantedIsLeftAlone() throws {
    try Data("precious".utf8).write(to: URL(filePath: files.path("precious")))
    let shared = files.path("shared")
    #expect(mkdir(shared, 0o777) == 0 && chmod(shared, 0o1777) == 0)
    #expect(symlink(files.path("precious"), "\(shared)/link") == 0 && lchown("\(shared)/link", 65534, 65534) == 0)
    #expect(mkfifo("\(shared)/pipe", 0o666) == 0 && chown("\(shared)/pipe", 65534, 65534) == 0)
    try Data("theirs".utf8).write(to: URL(filePath: "\(shared)/file"))
    #expect(chown("\(shared)/file", 65534, 65534) == 0)
    for name in ["link", "pipe", "file"] {
      #expect(write("x", "\(shared)/\(name)") == EACCES, "\(name)")
      #expect(FileReplacement.obstacle(at: "\(shared)/\(name)") == EACCES, "\(name)")
    }
    #expect(files.contents("precious") == "precious" && files.contents("shared/file") == "theirs")
    // The user's own.
    #expect(symlink(files.path("precious"), "\(shared)/own") == 0 && write("new", "\(shared)/own") == nil)
    #expect(files.contents("precious") == "new")
  }

  /// In a file system of 64 KB of its own: neither a report, nor a baseline, nor a heap costs what was there.
  @Test(.enabled(if: geteuid() == 0, "mounts a small file system")) func aFullDiskKeepsWhatWasThere() throws {
    let sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    let types = (0..<3000).map { "App.OwnerOfManyThings\($0)" }
    let leaking = ["FAKE_SNAPSHOT": try sandbox.write(SampleSnapshot.leaking(types), to: "leaking.undead")]
    try FileManager.default.createDirectory(atPath: sandbox.path("small"), withIntermediateDirectories: false)
    let tool = sandbox.path("bin/undead")
    let output = try sandbox.command(
      [
        "unshare", "-m", "sh", "-c",
        """
        mount -t tmpfs -o size=64k tmpfs small || exit 77
        for name in report baseline kept; do echo old > small/$name; done
        ln -s /dev/full small/full
        head -c 40000 /dev/zero > small/filler
        '\(tool)' run --all --output small/report -- true; echo $?
        '\(tool)' run --baseline small/baseline --update-baseline -- true; echo $?
        '\(tool)' run --output /dev/null --save small/kept -- true; echo $?
        '\(tool)' run --output /dev/null --save small/full -- true; echo $?
        cat small/report small/baseline small/kept; readlink small/full; ls -A small
        : > small/mounted; mount --bind small/mounted small/report
        rm small/filler; '\(tool)' leaks leaking.undead --top 1 --output small/report; echo $?; wc -l < small/mounted
        """,
      ], environment: leaking)
    try #require(output.status != 77, "no tmpfs can be mounted here: \(output.error)")
    let lines = output.out.split(separator: "\n").map(String.init)
    #expect(
      lines.prefix(13) == [
        "70", "70", "70", "70", "old", "old", "old", "/dev/full", "baseline", "filler", "full", "kept", "report",
      ], "\(output.out) \(output.error)")
    #expect(lines.count == 15 && lines[13] == "23" && Int(lines[14].trimmingCharacters(in: .whitespaces)) ?? 0 > 3)
  }
}
