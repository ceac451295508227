#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// A folder that is open: what lies in it is reached by plain names, whatever becomes of the path that led to it.
  ///
  /// It holds a descriptor, and all access is relative to that. No name leads out of it: names with a slash, `.` and `..` are
  /// refused, links are not followed, and only regular files are opened. Nothing in it is ever removed together with what a
  /// folder in it contains. Used for sessions, for private folders of a service, and for files that are found by themselves.
  package final class Folder: Sendable {
    package let descriptor: Int32

    /// Opens a folder; nil with `errno` set. A link in the place of its last component is not followed.
    ///
    /// - Parameter parent: the folder that a relative path starts from; nil for the current one.
    package init?(_ path: String, in parent: Folder? = nil) {
      // Search permission is all that is needed.
      descriptor = openat(
        parent?.descriptor ?? AT_FDCWD, path, RegularFile.pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
    }

    // An initializer that fails runs it, too, and its reason must stay.
    deinit { if descriptor >= 0 { close(descriptor) } }

    package var status: stat? {
      var status = stat()
      return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// True if a name is that of an entry, and of nothing else; control characters are in no name of ours.
    package static func isPlain(_ name: String) -> Bool {
      !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
        && name.unicodeScalars.allSatisfy { $0 != "/" && $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    private static func checked(_ name: String) -> Bool {
      if isPlain(name) { return true }
      errno = EINVAL
      return false
    }

    // MARK: Entries

    /// What the system knows of an entry itself; nil with `errno` set.
    package func status(of name: String) -> stat? {
      guard Self.checked(name) else { return nil }
      var status = stat()
      return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Names in a folder, sorted; empty if it cannot be listed.
    package static func names(in path: String) -> [String] {
      let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0 else { return [] }
      defer { close(folder) }
      return names(in: folder)
    }

    /// Names of all entries, sorted; empty if they cannot be listed.
    package var names: [String] { Self.names(in: descriptor) }

    private static func names(in folder: Int32) -> [String] {
      var names: [String] = []
      eachName(in: folder) {
        names.append(String(decoding: UnsafeRawBufferPointer(start: $0, count: strlen($0)), as: UTF8.self))
      }
      return names.sorted()
    }

    /// A descriptor of the caller's that can list the folder, and be locked; negative with `errno` set.
    package func openListed() -> Int32 { Self.openListed(descriptor) }

    private static func openListed(_ folder: Int32) -> Int32 {
      openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    private func eachName(_ body: (UnsafePointer<CChar>) -> Void) { Self.eachName(in: descriptor, body) }

    /// Calls `body` with the name of each entry of an open folder; not at all if they cannot be listed.
    static func eachName(in folder: Int32, _ body: (UnsafePointer<CChar>) -> Void) {
      let listed = openListed(folder)
      guard listed >= 0 else { return }
      guard let stream = fdopendir(listed) else {
        close(listed)
        return
      }
      defer { closedir(stream) }
      while let entry = readdir(stream) {
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { name in
            if strcmp(name, ".") != 0, strcmp(name, "..") != 0 { body(name) }
          }
        }
      }
    }

    /// Opens a regular file, as ``RegularFile/open(_:in:mode:followsLink:)``; one with further names is refused (`EMLINK`).
    package func open(_ name: String, mode: Int32 = O_RDONLY) -> (descriptor: Int32, status: stat)? {
      guard Self.checked(name) else { return nil }
      guard let file = RegularFile.open(name, in: descriptor, mode: mode, followsLink: false) else { return nil }
      guard file.status.st_nlink > 1 else { return file }
      close(file.descriptor)
      errno = EMLINK
      return nil
    }

    /// Makes a file that is not there yet, to be written; nil with `errno` set.
    package func create(_ name: String) -> Int32? {
      guard Self.checked(name) else { return nil }
      let file = openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
      return file >= 0 ? file : nil
    }

    /// Makes a folder in this one, with exactly these permissions; nil with `errno` set.
    package func createFolder(_ name: String, permissions: mode_t) -> Folder? {
      guard Self.checked(name), mkdirat(descriptor, name, 0o700) == 0, let folder = Folder(name, in: self) else {
        return nil
      }
      return folder.setPermissions(permissions) ? folder : nil
    }

    /// False with `errno` set.
    @discardableResult package func setPermissions(_ permissions: mode_t) -> Bool {
      let folder = openListed()
      guard folder >= 0 else { return false }
      defer { close(folder) }
      return fchmod(folder, permissions) == 0
    }

    // MARK: Removing

    /// Removes an entry that is no folder; false with `errno` set.
    @discardableResult package func remove(_ name: String) -> Bool {
      Self.checked(name) && unlinkat(descriptor, name, 0) == 0
    }

    /// Removes all entries; a folder among them only if it is empty.
    package func removeContents() {
      eachName { name in
        if unlinkat(descriptor, name, 0) != 0, errno == EISDIR || errno == EPERM {
          unlinkat(descriptor, name, AT_REMOVEDIR)
        }
      }
    }

    /// Removes a folder in this one with the files in it. What has the name by then and is another folder stays.
    package func remove(_ name: String, openAs folder: Folder) {
      // A process that is left may put in a file meanwhile.
      for _ in 0..<10 {
        folder.removeContents()
        guard let now = status(of: name), let known = folder.status, now.st_ino == known.st_ino,
          now.st_dev == known.st_dev, unlinkat(descriptor, name, AT_REMOVEDIR) != 0, errno == ENOTEMPTY
        else { return }
      }
    }
  }
#endif
