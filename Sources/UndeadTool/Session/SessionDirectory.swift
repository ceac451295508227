import UndeadAttach
import UndeadSystem

/// The private directory in which the processes of one `undead run` leave their state and snapshots.
///
/// Sessions lie in a directory of the user's own, so that `undead leaks PID` finds the one of a process. It is made, looked
/// at and removed by descriptors: a process of the session that is another user's (a server that gave up root) may exchange
/// what it likes in the session meanwhile, and reaches nothing outside of it.
final class SessionDirectory: Sendable {
  let folder: SessionFolder
  private let base: Folder
  private let name: String
  private let opened: Folder
  private let lock: Int32

  var path: String { folder.path }

  /// Makes a new session directory; removes those of tools that were killed.
  init() throws(ToolError) {
    var problems: [String] = []
    for place in Place.all {
      guard let base = place.prepare() else {
        problems.append("\(place.path): \(SystemError.text())")
        continue
      }
      Self.removeAbandoned(in: base)
      let name = RandomName.make("run-\(getpid())-", length: 12)
      guard let (opened, lock) = Self.create(name, in: base),
        let folder = SessionFolder(opened, path: "\(place.path)/\(name)")
      else {
        problems.append("\(place.path): \(SystemError.text())")
        continue
      }
      (self.base, self.name, self.opened, self.lock, self.folder) = (base, name, opened, lock, folder)
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
  func removeFiles() { base.remove(name, openAs: opened) }

  /// Makes the directory, marked as in use for as long as this tool lives.
  private static func create(_ name: String, in base: Folder) -> (Folder, lock: Int32)? {
    guard let folder = base.createFolder(name, permissions: 0o700) else { return nil }
    let lock = folder.create(lockName)
    // A full disk shows here, where another place can still be tried, and not in the program.
    var problem = lock.map { System.write([UInt8](repeating: 0, count: ProcessState.size), to: $0) } ?? errno
    // A server started by root becomes another user, who must be able to leave a snapshot; nobody can list the names.
    if problem == nil, geteuid() == 0, !folder.setPermissions(0o1733) { problem = errno }
    if let problem {
      if let lock { close(lock) }
      base.remove(name, openAs: folder)
      errno = problem
      return nil
    }
    flock(lock!, LOCK_EX | LOCK_NB)
    return (folder, lock!)
  }

  // MARK: Places

  private static let lockName = "lock"

  /// A directory of this user's sessions.
  private struct Place {
    /// Of the directory that it lies in.
    let parent: String
    let name: String

    var path: String { "\(parent)/\(name)" }

    /// Where sessions may lie, the best place first.
    static var all: [Place] {
      var places: [Place] = []
      if let runtime = System.environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") {
        places.append(Place(parent: runtime, name: "undead"))
      }
      // In a container whose root cannot be written, the last one often can.
      for directory in [System.environment("TMPDIR"), "/tmp", "/dev/shm"] {
        guard let directory, directory.hasPrefix("/") else { continue }
        let place = Place(parent: directory, name: "undead-\(getuid())")
        if !places.contains(where: { $0.path == place.path }) { places.append(place) }
      }
      return places
    }

    /// The directory, if it is there and this user's alone; else `errno` says why not.
    func open() -> Folder? {
      // What root writes must not lie where another user could put a directory in its place.
      guard geteuid() != 0 || Ownership.isOutOfReach(parent) else {
        errno = EPERM
        return nil
      }
      guard let folder = Folder(path), let status = folder.status else { return nil }
      guard isPrivate(status) else {
        errno = EPERM
        return nil
      }
      return folder
    }

    /// The same; it is made if there is none.
    func prepare() -> Folder? {
      let permissions: mode_t = geteuid() == 0 ? 0o711 : 0o700
      if geteuid() != 0 || Ownership.isOutOfReach(parent) {
        // The umask may have taken too much.
        if mkdir(path, permissions) == 0 {
          Folder(path)?.setPermissions(permissions)
        } else if errno != EEXIST {
          return nil
        }
      }
      guard let folder = open(), let status = folder.status else { return nil }
      if status.st_mode & 0o777 != permissions { folder.setPermissions(permissions) }
      return faccessat(folder.descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 ? folder : nil
    }
  }

  /// Somebody else may have put a directory there, to read what we write.
  private static func isPrivate(_ status: stat) -> Bool {
    status.st_uid == geteuid() && status.st_mode & 0o066 == 0
  }

  /// The folder of a path, if it is a session that this user made: nobody else can have put something there.
  static func own(_ session: String) -> Folder? {
    guard let slash = session.lastIndex(of: "/"), session[session.index(after: slash)...].hasPrefix("run-"),
      let base = Folder(String(session[..<slash])), let status = base.status, isPrivate(status),
      let folder = Folder(String(session[session.index(after: slash)...]), in: base)
    else { return nil }
    return folder.status?.st_uid == geteuid() ? folder : nil
  }

  /// The directories of this user that are there, each with the names of the sessions in it.
  private static var sessions: [(base: Folder, path: String, name: String)] {
    Place.all.flatMap { place in
      guard let base = place.open() else { return [(base: Folder, path: String, name: String)]() }
      return base.names.filter { $0.hasPrefix("run-") && Folder.isPlain($0) }.map { (base, "\(place.path)/\($0)", $0) }
    }
  }

  private static func sessionFolders(_ prefix: String = "run-") -> [SessionFolder] {
    sessions.filter { $0.name.hasPrefix(prefix) }.compactMap { session in
      guard let folder = Folder(session.name, in: session.base), folder.status?.st_uid == geteuid() else { return nil }
      return SessionFolder(folder, path: session.path)
    }
  }

  private static func removeAbandoned(in base: Folder) {
    for name in base.names where name.hasPrefix("run-") && Folder.isPlain(name) {
      guard let opened = Folder(name, in: base), opened.status?.st_uid == geteuid(),
        let folder = SessionFolder(opened, path: name)
      else { continue }
      // Without a lock its tool was killed before it made one, or while it took the directory away.
      let mark =
        opened.open(lockName, mode: O_RDWR)?.descriptor
        ?? opened.openListed()
      guard mark >= 0 else { continue }
      if isOld(mark), flock(mark, LOCK_EX | LOCK_NB) == 0, !hasLivingProcess(folder) {
        base.remove(name, openAs: opened)
      }
      close(mark)
    }
  }

  /// A young directory may belong to a tool that has not come to mark it yet.
  private static func isOld(_ lock: Int32) -> Bool {
    var status = stat()
    return fstat(lock, &status) == 0 && time(nil) - status.st_mtim.tv_sec > 60
  }

  private static func hasLivingProcess(_ session: SessionFolder) -> Bool {
    session.processes.contains { pid in
      // One that nobody waits for stays in the list of processes when it has ended.
      kill(pid, 0) == 0 ? ProcessFacts.isRunning(pid) : errno == EPERM
    }
  }

  // MARK: Processes

  /// The program of a running tool, for those who have the tool's process id at hand; nil if `tool` is none.
  static func program(of tool: pid_t) -> pid_t? {
    for session in sessionFolders("run-\(tool)-") {
      // The system knows whose child a process is; a state only says so.
      let program = session.states.first { $0.parent == tool && ProcessFacts.parent(of: $0.pid) == tool }
      if let program { return program.pid }
    }
    return nil
  }

  static func runningProcesses() -> [pid_t] {
    sessionFolders().flatMap(\.processes).filter(ProcessFacts.isRunning).sorted()
  }

  func states() -> [ProcessState] { folder.states }

  /// The session in which a process runs; nil if it was not started by `undead run`.
  static func containing(_ pid: pid_t) throws(ToolError) -> SessionFolder? {
    // The process itself knows best, and its environment can mostly be read.
    if let path = ProcessFacts.environment("UNDEAD_SESSION", of: pid),
      let session = try SessionFolder.named(path, by: pid), session.state(of: pid) != nil
    {
      return session
    }
    return sessionFolders().first { $0.state(of: pid) != nil }
  }
}
