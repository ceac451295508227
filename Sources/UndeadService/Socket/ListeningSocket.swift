#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Glibc
import Synchronization
import UndeadSystem

/// A UNIX domain socket with a name that only this user can use.
///
/// The folder of the name stays open: what is removed is an entry of that folder, even if another user exchanges a folder that the
/// path leads through.
final class ListeningSocket: Sendable {
  private let folder: Int32
  private let name: String
  private let file: FileIdentity
  private let descriptor: Mutex<Int32>

  private struct FileIdentity: Equatable {
    var device: dev_t
    var number: ino_t

    init?(_ name: String, in folder: Int32) {
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
      (device, number) = (status.st_dev, status.st_ino)
    }
  }

  /// - Throws: ``UndeadServiceError`` that names the path and what is wrong with it.
  init(path: String) throws(UndeadServiceError) {
    let address = try Self.address(path)
    let slash = path.lastIndex(of: "/")
    let parent = slash.map { String(path[...$0]) } ?? "."
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      throw UndeadServiceError("no socket '\(path)': cannot open the directory '\(parent)': \(SystemError.text())")
    }
    var isKept = false
    defer { if !isKept { Self.closeFile(folder) } }
    // Two processes that start at once must not take each other's sockets for old ones.
    guard Self.lock(folder) else {
      throw UndeadServiceError(
        "no socket '\(path)': another process has locked the directory '\(parent)'; give a path in one that is this user's alone"
      )
    }
    defer { flock(folder, LOCK_UN) }
    try Self.removeStale(path, name, in: folder, address)
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw UndeadServiceError("no socket '\(path)': \(SystemError.text())") }
    // Before it has a name, so that there is no moment in which others could connect.
    guard fchmod(socket, 0o600) == 0, Self.withAddress(address, { bind(socket, $0, $1) }) == 0,
      listen(socket, 16) == 0, let file = FileIdentity(name, in: folder)
    else {
      let reason = SystemError.text()
      Self.closeFile(socket)
      throw UndeadServiceError("no socket '\(path)': \(reason); give a path in a directory that you can write")
    }
    (self.folder, self.name, self.file) = (folder, name, file)
    isKept = true
    descriptor = Mutex(socket)
  }

  deinit { Self.closeFile(folder) }

  /// Everybody who may open a folder can lock it, for as long as they like: it is not waited for longer than starts take.
  private static func lock(_ folder: Int32) -> Bool {
    for _ in 0..<100 {
      if flock(folder, LOCK_EX | LOCK_NB) == 0 { return true }
      usleep(10_000)
    }
    return false
  }

  /// Takes away the socket of a process that is gone.
  private static func removeStale(
    _ path: String, _ name: String, in folder: Int32, _ address: sockaddr_un
  ) throws(UndeadServiceError) {
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw UndeadServiceError("'\(path)' is there and is no socket, so it is left alone; give another path")
    }
    let probe = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard probe >= 0 else { throw UndeadServiceError("no socket '\(path)': \(SystemError.text())") }
    defer { closeFile(probe) }
    let result = withAddress(address) { connect(probe, $0, $1) }
    guard result != 0, errno == ECONNREFUSED else {
      throw UndeadServiceError(
        "another process listens at '\(path)'; give another path, as with {PID} in it, which stands for the process")
    }
    guard unlinkat(folder, name, 0) == 0 else {
      throw UndeadServiceError(
        "the socket '\(path)' of a process that is gone cannot be replaced: \(SystemError.text())")
    }
  }

  private static func address(_ path: String) throws(UndeadServiceError) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else {
      throw UndeadServiceError("'\(path)' cannot be the path of a socket: give 1 to \(room - 1) bytes")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return address
  }

  private static func withAddress(
    _ address: sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func closeFile(_ descriptor: Int32) {
    _ = Glibc.close(descriptor)
  }

  /// The next connection of somebody who may ask; nil when the socket is closed.
  func accept() -> Int32? {
    while true {
      let listening = descriptor.withLock { $0 }
      guard listening >= 0 else { return nil }
      let connection = Self.acceptPrivately?(listening, nil, nil, Int32(SOCK_CLOEXEC.rawValue)) ?? -1
      if connection >= 0 {
        if Self.mayAsk(connection) { return connection }
        Self.closeFile(connection)
        continue
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(100_000)
      default:
        release()
        return nil
      }
    }
  }

  // In no header that Swift can import. A program that starts another one meanwhile must not hand the connection on.
  private static let acceptPrivately = dlsym(nil, "accept4").map {
    unsafeBitCast(
      $0,
      to: (@convention(c) (Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32) -> Int32).self)
  }

  /// Who has the same user, or is root. The mode of the socket says the same, but modes can be changed.
  private static func mayAsk(_ connection: Int32) -> Bool {
    // struct ucred: pid, uid, gid.
    var credentials: (pid: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
    var size = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return false }
    return mayAsk(user: credentials.user)
  }

  static func mayAsk(user: UInt32) -> Bool { user == 0 || user == geteuid() }

  /// Takes the name away and ends ``accept()``.
  func close() {
    if FileIdentity(name, in: folder) == file { unlinkat(folder, name, 0) }
    descriptor.withLock { descriptor in
      // Closed by the thread that waits for connections: the number may be another file's by then.
      if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  private func release() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { Self.closeFile(descriptor) }
      descriptor = -1
    }
  }
}
#endif
