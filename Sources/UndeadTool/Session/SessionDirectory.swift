import Glibc

/// The private directory in which the processes of one `undead run` leave their state and snapshots.
///
/// Sessions lie in a directory of the user's own, so that `undead snapshot PID` finds the one of a process.
final class SessionDirectory: Sendable {
  let path: String
  private let lock: Int32

  /// Makes a new session directory; removes those of tools that were killed.
  ///
  /// - Throws: `ToolError` (failure) if no place allows it.
  init() throws(ToolError) {
    var problems: [String] = []
    for base in Self.bases() {
      guard Self.prepare(base) else {
        problems.append("\(base): \(System.reason())")
        continue
      }
      Self.removeAbandoned(in: base)
      guard let created = Self.create(in: base) else {
        problems.append("\(base): \(System.reason())")
        continue
      }
      (path, lock) = created
      return
    }
    throw .failure(
      "cannot make a directory for this run (\(problems.joined(separator: "; "))); set TMPDIR to one that has room and that you can write"
    )
  }

  /// Removes the directory and all that it holds, and lets go of it.
  func remove() {
    removeFiles()
    close(lock)
  }

  /// Removes the directory and all that it holds. May be called from any thread.
  func removeFiles() {
    Self.removeTree(path)
  }

  /// Makes the directory, marked as in use for as long as this tool lives.
  private static func create(in base: String) -> (path: String, lock: Int32)? {
    var template = Array("\(base)/run-\(getpid())-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return nil }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // A server started by root becomes another user, who must be able to leave a snapshot; nobody can list the names.
    if geteuid() == 0 { chmod(path, 0o1733) }
    let lock = open("\(path)/\(lockName)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    // A full disk shows here, where another place can still be tried, and not in the program.
    let problem = lock < 0 ? errno : System.write([UInt8](repeating: 0, count: ProcessState.size), to: lock)
    if let problem {
      if lock >= 0 { close(lock) }
      removeTree(path)
      errno = problem
      return nil
    }
    flock(lock, LOCK_EX | LOCK_NB)
    return (path, lock)
  }

  // MARK: Places

  private static let lockName = "lock"

  /// Where sessions may lie, the best place first.
  private static func bases() -> [String] {
    var bases: [String] = []
    if let runtime = System.environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") { bases.append("\(runtime)/undead") }
    // In a container whose root cannot be written, the last one often can.
    for directory in [System.environment("TMPDIR"), "/tmp", "/dev/shm"] {
      guard let directory, directory.hasPrefix("/") else { continue }
      let base = "\(directory)/undead-\(getuid())"
      if !bases.contains(base) { bases.append(base) }
    }
    return bases
  }

  /// True if `base` is, or was made, a directory that belongs to this user alone; else `errno` says why not.
  private static func prepare(_ base: String) -> Bool {
    let permissions: mode_t = geteuid() == 0 ? 0o711 : 0o700
    if mkdir(base, permissions) == 0 { chmod(base, permissions) } else if errno != EEXIST { return false }
    var status = stat()
    guard lstat(base, &status) == 0 else { return false }
    // Somebody else may have put a link or a directory there, to read what we write.
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o066 == 0 else {
      errno = EPERM
      return false
    }
    if status.st_mode & 0o777 != permissions { chmod(base, permissions) }
    return access(base, W_OK | X_OK) == 0
  }

  private static func removeAbandoned(in base: String) {
    for name in System.names(in: base) where name.hasPrefix("run-") {
      let path = "\(base)/\(name)"
      let lock = open("\(path)/\(lockName)", O_RDWR | O_CLOEXEC)
      // Without a lock its tool was killed before it made one, or while it took the directory away.
      let mark = lock >= 0 ? lock : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard mark >= 0 else { continue }
      if isOld(mark), flock(mark, LOCK_EX | LOCK_NB) == 0, !hasLivingProcess(path) { removeTree(path) }
      close(mark)
    }
  }

  /// A young directory may belong to a tool that has not come to mark it yet.
  private static func isOld(_ lock: Int32) -> Bool {
    var status = stat()
    return fstat(lock, &status) == 0 && time(nil) - status.st_mtim.tv_sec > 60
  }

  private static func hasLivingProcess(_ session: String) -> Bool {
    processes(in: session).contains { pid in
      // One that nobody waits for stays in the list of processes when it has ended.
      kill(pid, 0) == 0 ? ProcessFacts.isRunning(pid) : errno == EPERM
    }
  }

  private static func removeTree(_ path: String) {
    // A process that is left may put a file in meanwhile.
    for _ in 0..<10 {
      for name in System.names(in: path) {
        let entry = "\(path)/\(name)"
        if unlink(entry) != 0 && errno == EISDIR { removeTree(entry) }
      }
      if rmdir(path) == 0 || errno != ENOTEMPTY { return }
    }
  }

  /// The program of a running tool, for those who have the tool's process id at hand; nil if `tool` is none.
  static func program(of tool: pid_t) -> pid_t? {
    for base in bases() {
      for name in System.names(in: base) where name.hasPrefix("run-\(tool)-") {
        let states = processes(in: "\(base)/\(name)").compactMap { ProcessState(pid: $0, session: "\(base)/\(name)") }
        if let program = states.first(where: { $0.parent == tool }) { return program.pid }
      }
    }
    return nil
  }

  /// The processes of this user that are under the tool now.
  static func runningProcesses() -> [pid_t] {
    bases().flatMap { base in
      System.names(in: base).filter { $0.hasPrefix("run-") }.flatMap { processes(in: "\(base)/\($0)") }
    }.filter(ProcessFacts.isRunning).sorted()
  }

  // MARK: Contents

  private static func processes(in session: String) -> [pid_t] {
    System.names(in: session).compactMap { name in
      name.hasSuffix(".state") ? pid_t(name.dropLast(".state".count)) : nil
    }
  }

  /// The states of all processes of the session, by pid.
  func states() -> [ProcessState] {
    Self.processes(in: path).sorted().compactMap { ProcessState(pid: $0, session: path) }
  }

  /// The session in which a process of this user runs; nil if it was not started by `undead run`.
  static func containing(_ pid: pid_t) -> String? {
    // The process itself knows best, and its environment can mostly be read.
    if let session = ProcessFacts.environment("UNDEAD_SESSION", of: pid),
      ProcessState(pid: pid, session: session) != nil
    {
      return session
    }
    for base in bases() {
      for name in System.names(in: base) where name.hasPrefix("run-") {
        if ProcessState(pid: pid, session: "\(base)/\(name)") != nil { return "\(base)/\(name)" }
      }
    }
    return nil
  }
}
