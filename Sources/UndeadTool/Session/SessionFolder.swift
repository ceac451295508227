import UndeadAttach
import UndeadSystem

/// The folder of a session, and all that may be done in it.
///
/// Processes of the session write there, and what they write is data: a name, a pid or a size of theirs is checked before it is
/// used, and none leads out of the folder (``Folder``). A session of this user is used with this user's rights; that of another
/// user only with the rights of that user, so that a process has nothing done that it could not do itself
/// (`Documentation/session-protocol.md`, "Trust").
final class SessionFolder: Sendable {
  /// To be shown, and to be passed to a program; nothing is opened by it again.
  let path: String
  private let folder: Folder
  private let owner: uid_t
  /// Whose rights are used; nil for those of this tool.
  private let user: ProcessUser?

  /// A session of this user.
  init?(_ folder: Folder, path: String) {
    guard let status = folder.status, status.st_uid == geteuid() || status.st_uid == 0 else { return nil }
    self.folder = folder
    self.path = path
    owner = status.st_uid
    user = nil
  }

  private init?(of user: ProcessUser, path: String) throws(AttachError) {
    guard let opened = try user.useFiles({ Folder(path) }), let status = opened.status,
      user.includes(status.st_uid), status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0
    else { return nil }
    folder = opened
    self.path = path
    owner = status.st_uid
    self.user = user
  }

  /// The folder that a process says that it is in; nil if it has no right to say so.
  static func named(_ path: String, by pid: pid_t) throws(ToolError) -> SessionFolder? {
    guard path.hasPrefix("/"), path.utf8.count < Int(PATH_MAX), let user = ProcessUser(of: pid) else { return nil }
    if let folder = SessionDirectory.own(path) ?? (user.isOwn ? Folder(path) : nil) {
      return SessionFolder(folder, path: path)
    }
    // Others have no rights to give up.
    guard geteuid() == 0 else { return nil }
    do throws(AttachError) {
      return try SessionFolder(of: user, path: path)
    } catch {
      throw ToolError(error)
    }
  }

  /// Does something in the folder with the rights that count for it.
  private func use<Output>(_ body: () -> Output) -> Output? {
    guard let user else { return body() }
    return try? user.useFiles(body)
  }

  // MARK: States

  private static let stateSuffix = ".state"

  /// The processes that left a state, in ascending order.
  var processes: [pid_t] {
    names(endingIn: Self.stateSuffix).compactMap { name in
      let number = name.dropLast(Self.stateSuffix.utf8.count)
      return pid_t(number).flatMap { $0 > 0 && String($0) == number ? $0 : nil }
    }.sorted()
  }

  /// The state of a process; nil if it has none here.
  func state(of pid: pid_t) -> ProcessState? {
    guard let file = openState(of: pid, mode: O_RDONLY) else { return nil }
    defer { close(file) }
    guard let bytes = RegularFile.content(of: file, limit: ProcessState.size),
      var state = ProcessState(bytes), state.pid == pid
    else { return nil }
    // It has named its own files only.
    if !Self.isSnapshot(state.newestSnapshot, of: pid) { state.newestSnapshot = "" }
    return state
  }

  var states: [ProcessState] { processes.compactMap(state) }

  /// Opens the state file of a process; nil with `errno` set.
  ///
  /// It is the owner's of the session or the process's own: nobody speaks for a process of another user.
  func openState(of pid: pid_t, mode: Int32) -> Int32? {
    guard let found = use({ folder.open("\(pid)\(Self.stateSuffix)", mode: mode) }), let file = found else {
      return nil
    }
    if file.status.st_uid == owner || ProcessUser(of: pid)?.includes(file.status.st_uid) ?? true {
      return file.descriptor
    }
    close(file.descriptor)
    errno = EPERM
    return nil
  }

  // MARK: Snapshots

  private static func isSnapshot(_ name: String, of pid: pid_t) -> Bool {
    Folder.isPlain(name) && name.hasPrefix("\(pid).") && name.hasSuffix(".undead")
  }

  /// Opens the newest snapshot of a process.
  func snapshot(of state: ProcessState) throws(ToolError) -> SessionFile {
    try snapshot(named: state.newestSnapshot)
  }

  /// The same, by a name from a state of this folder.
  func snapshot(named name: String) throws(ToolError) -> SessionFile {
    guard let pid = name.split(separator: ".").first.flatMap({ pid_t($0) }), Self.isSnapshot(name, of: pid) else {
      throw .failure("the snapshot of the program cannot be read: '\(name)' is no name of one")
    }
    guard let found = use({ folder.open(name) }), let file = found else {
      throw .failure("the snapshot of the program cannot be read: \(SystemError.text())")
    }
    if let user, !user.includes(file.status.st_uid) {
      close(file.descriptor)
      throw .failure("the snapshot of the program cannot be read: it belongs to another user")
    }
    return SessionFile(file.descriptor) { [self] in _ = use { folder.remove(name) } }
  }

  // MARK: Other files

  func has(_ name: String) -> Bool { use { folder.status(of: name) != nil } ?? false }

  func names(endingIn suffix: String) -> [String] {
    (use { folder.names } ?? []).filter { $0.hasSuffix(suffix) && Folder.isPlain($0) }
  }

  /// A word of 8 bytes in a file; nil if it has none there.
  func word(of name: String, at offset: Int) -> UInt64? {
    guard let found = use({ folder.open(name) }), let file = found else { return nil }
    defer { close(file.descriptor) }
    var word: UInt64 = 0
    let count = pread(file.descriptor, &word, 8, off_t(offset))
    return count == 8 ? word : nil
  }

  /// The content of a file; nil with `errno` set.
  func read(_ name: String, limit: Int) -> [UInt8]? {
    guard let found = use({ folder.open(name) }), let file = found else { return nil }
    defer { close(file.descriptor) }
    return RegularFile.content(of: file.descriptor, limit: limit)
  }
}
