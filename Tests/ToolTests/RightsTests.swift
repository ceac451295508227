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
