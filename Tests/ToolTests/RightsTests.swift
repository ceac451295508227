import Foundation
import Testing
import UndeadAttach
import UndeadSystem
import UndeadTestSupport

@testable import UndeadTool

/// The rights that the tool uses, the processes that it means, and the files that it opens.
@Suite(.timeLimit(.minutes(20))) struct RightsTests {
  private let files: TemporaryDirectory

  init() throws { files = try TemporaryDirectory() }

  @Test func onlyRegularFilesAreOpened() throws {
    #expect(mkfifo(files.path("pipe"), 0o600) == 0 && symlink("pipe", files.path("link")) == 0)
    for (path, code) in [
      (files.path("pipe"), EINVAL), (files.path("link"), EINVAL), ("/dev/null", EINVAL), (files.path, EISDIR),
      (files.path("none"), ENOENT),
    ] {
      #expect(RegularFile.open(path) == nil && errno == code, "\(path): \(errno)")
    }
    #expect(RegularFile.open(files.path("link"), followsLink: false) == nil && errno == ELOOP)
    #expect(Folder(files.path)?.open("../x") == nil && errno == EINVAL)
  }

  @Test func linksToFoldersAreNotFollowed() throws {
    let place = try #require(Folder(files.path))
    #expect(mkdir(files.path("folder"), 0o700) == 0 && symlink("folder", files.path("link")) == 0)
    #expect(Folder(files.path("folder")) != nil && Folder("folder", in: place) != nil)
    #expect(Folder(files.path("link")) == nil && Folder("link", in: place) == nil)
  }

  @Test(.enabled(if: geteuid() == 0, "needs another user's files")) func sizesOfOthersAreNotBelieved() throws {
    let path = files.path("holes")
    let file = open(path, O_RDWR | O_CREAT, 0o644)
    #expect(ftruncate(file, 12 << 30) == 0 && fchown(file, 65534, 65534) == 0)
    close(file)
    #expect(WholeFile.read(path) == nil && errno == EFBIG)
    #expect(throws: Error.self) { try SnapshotFile.load(path) }
  }

  @Test func namesThatLeadOutAreNone() {
    for name in ["", ".", "..", "a/b", "/", "a\u{1B}[2J", "a\n", "\u{9B}", String(repeating: "a", count: 256)] {
      #expect(!Folder.isPlain(name), "\(name)")
    }
    for name in ["a", "...", "1.state", "ä"] { #expect(Folder.isPlain(name)) }
  }

  @Test func aFolderGoesWithItsFilesOnly() throws {
    for folder in ["session", "session/full", "session/empty", "other"] {
      #expect(mkdir(files.path(folder), 0o700) == 0)
    }
    for file in ["session/file", "session/full/file", "other/file"] {
      try Data("x".utf8).write(to: URL(filePath: files.path(file)))
    }
    #expect(symlink(files.path("other"), files.path("session/link")) == 0)
    let place = try #require(Folder(files.path))
    let session = try #require(Folder("session", in: place))
    place.remove("session", openAs: session)
    #expect(try FileManager.default.contentsOfDirectory(atPath: files.path("session")) == ["full"])
    #expect(files.contents("other/file") == "x" && files.contents("session/full/file") == "x")
    // Another folder that has the name by now stays.
    let other = try #require(Folder("other", in: place))
    #expect(mkdir(files.path("third"), 0o700) == 0)
    place.remove("third", openAs: other)
    #expect(place.names.contains("third"))
  }

  /// A state says nothing of another process, and names no file but its own process's.
  @Test func statesSpeakForThemselves() throws {
    func state(_ name: String, pid: UInt32, snapshot: String = "") throws {
      var bytes = [UInt8](repeating: 0, count: ProcessState.size)
      bytes.replaceSubrange(0..<8, with: Array("UNDEADST".utf8))
      bytes.replaceSubrange(640..<640 + snapshot.utf8.count, with: Array(snapshot.utf8))
      for (offset, value) in [(8, 1), (12, pid), (24, 2)] as [(Int, UInt32)] {
        withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
      }
      try Data(bytes).write(to: URL(filePath: files.path(name)))
    }
    let session = try #require(Folder(files.path).flatMap { SessionFolder($0, path: files.path) })
    for (pid, snapshot) in [
      (71, "71.1.1.undead"), (72, "../72.1.1.undead"), (73, "71.1.1.undead"), (74, "74.state"),
    ] as [(UInt32, String)] {
      try state("\(pid).state", pid: pid, snapshot: snapshot)
    }
    #expect(session.state(of: 71)?.newestSnapshot == "71.1.1.undead")
    for pid in [72, 73, 74] as [pid_t] { #expect(session.state(of: pid)?.newestSnapshot == "") }
    try state("75.state", pid: 76)
    #expect(session.state(of: 75) == nil)
    // A further name of a file may be that of a file outside.
    try state("outside", pid: 77)
    #expect(link(files.path("outside"), files.path("77.state")) == 0)
    #expect(session.state(of: 77) == nil && errno == EMLINK)
    for name in ["078.state", "+79.state", "0.state", "-1.state", "x.state"] { try state(name, pid: 78) }
    #expect(session.processes == [71, 72, 73, 74, 75, 77])
  }

  /// A process has a session only in a folder that its user owns, and that nobody else can write.
  @Test(.enabled(if: geteuid() == 0, "needs another user's process")) func sessionsBelongToTheirProcess() throws {
    let child = try #require(Self.startAsNobody())
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    chmod(files.path, 0o755)
    for (name, owner, permissions) in [
      ("own", 65534, 0o700), ("sticky", 65534, 0o1777), ("third", 65533, 0o755), ("open", 65534, 0o777),
      ("root", 0, 0o755),
    ] as [(String, uid_t, mode_t)] {
      let path = files.path(name)
      #expect(mkdir(path, 0o700) == 0 && chown(path, owner, owner) == 0 && chmod(path, permissions) == 0)
      #expect(try (SessionFolder.named(path, by: child) != nil) == ["own", "sticky"].contains(name), "\(name)")
    }
    #expect(symlink(files.path("own"), files.path("link")) == 0)
    #expect(try SessionFolder.named(files.path("link"), by: child) == nil)
    // Neither a state nor a snapshot of a third user is the process's.
    for name in ["\(child).state", "\(child).1.1.undead"] {
      let path = files.path("sticky/\(name)")
      #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8)))
      #expect(chown(path, 65533, 65533) == 0 && chmod(path, 0o644) == 0)
    }
    let session = try #require(try SessionFolder.named(files.path("sticky"), by: child))
    #expect(session.openState(of: child, mode: O_RDONLY) == nil && errno == EPERM)
    #expect(throws: ToolError.self) { try session.snapshot(named: "\(child).1.1.undead") }
  }

  @Test(.enabled(if: geteuid() == 0, "gives up root's rights")) func rightsAreThoseOfTheProcess() throws {
    let secret = files.path("secret")
    try Data("x".utf8).write(to: URL(filePath: secret))
    chmod(secret, 0o640)
    let child = try #require(Self.startAsNobody())
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    let user = try #require(ProcessUser(of: child))
    #expect(user.users == [65534, 65534, 65534] && !user.isOwn && ProcessUser(of: getpid())?.isOwn ?? false)
    let (opened, group, code) = try user.useFiles {
      (access: open(secret, O_RDONLY), group: Self.readsGroupFile(secret), code: errno)
    }
    #expect(opened < 0 && !group && code == EACCES)
    // A file that may not be written is not replaced because its folder may be.
    let folder = files.path("folder")
    #expect(mkdir(folder, 0o700) == 0 && chown(folder, 65534, 65534) == 0)
    chmod(files.path, 0o755)
    let written = try user.useFiles {
      let first = FileReplacement.write(Array("old".utf8), to: "\(folder)/file")
      chmod("\(folder)/file", 0o444)
      return (first: first, second: FileReplacement.write(Array("new".utf8), to: "\(folder)/file"))
    }
    #expect(written.first == nil && written.second == EACCES && files.contents("folder/file") == "old")
    let again = open(secret, O_RDONLY)
    #expect(again >= 0)
    close(again)
  }

  /// The file's group is root's, in which this process is.
  private static func readsGroupFile(_ path: String) -> Bool {
    let file = open(path, O_RDONLY)
    if file >= 0 { close(file) }
    return file >= 0
  }

  private static func startAsNobody() -> pid_t? {
    try? Spawn("/usr/bin/setpriv", ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "600"])
      .start()
      .settled
  }

  @Test func asksTheProcessThatWasMeant() throws {
    let child = try Spawn("/bin/sleep", ["sleep", "600"]).start()
    let handle = try #require(ProcessHandle(of: child))
    #expect(handle.isRunning && handle.send(0) == nil)
    #expect(handle.send(SIGKILL) == nil)
    waitpid(child, nil, 0)
    #expect(!handle.isRunning && handle.send(SIGKILL) == ESRCH)
    #expect(ProcessHandle(of: child) == nil && ProcessHandle(of: 0) == nil && ProcessHandle(of: -1) == nil)
  }

  /// The number is another process's by now.
  @Test(.enabled(if: access("/proc/sys/kernel/ns_last_pid", W_OK) == 0, "numbers of processes cannot be chosen here"))
  func aProcessThatHasTheNumberNowIsLeftAlone() throws {
    let child = try Spawn("/bin/sleep", ["sleep", "600"]).start()
    let handle = try #require(ProcessHandle(of: child))
    kill(child, SIGKILL)
    waitpid(child, nil, 0)
    // Others take numbers meanwhile.
    for _ in 0..<1000 {
      let last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC)
      let isSet = System.write(Array("\(child - 1)".utf8), to: last) == nil
      close(last)
      guard isSet else { return }
      let other = try Spawn("/bin/sleep", ["sleep", "600"]).start()
      defer {
        kill(other, SIGKILL)
        waitpid(other, nil, 0)
      }
      guard other == child else { continue }
      #expect(handle.send(SIGKILL) == ESRCH && !handle.isRunning && ProcessHandle(of: other)?.isRunning ?? false)
      return
    }
    Issue.record("no process has got the number")
  }
}

extension pid_t {
  /// The process, when it has become the other user.
  fileprivate var settled: pid_t {
    for _ in 0..<10_000 {
      if ProcessUser(of: self)?.users == [65534, 65534, 65534] { break }
      usleep(1000)
    }
    return self
  }
}
