#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// A file beside the one that it will replace; removed again unless it does.
  final class Temporary {
    struct Failure: Error {
      let code: Int32

      /// True if the folder takes no files.
      var isOfFolder: Bool { [EACCES, EPERM, EROFS].contains(code) }
    }

    let descriptor: Int32
    private let folder: Int32
    private var name: String?

    private static let prefix = ".undead-"
    private static let length = 16
    /// Seconds since the last write after which a file without a lock is a left-over.
    private static let age = 60

    private init(_ descriptor: Int32, _ folder: Int32, _ name: String) {
      self.descriptor = descriptor
      self.folder = folder
      self.name = name
    }

    deinit {
      remove()
      close(descriptor)
    }

    /// - Parameter folder: stays open as long as the file.
    static func make(in folder: Int32) -> Result<Temporary, Failure> {
      removeLeftOvers(in: folder)
      for _ in 0..<16 {
        let name = RandomName.make(prefix, length: length)
        let descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        if descriptor >= 0 {
          // While it is locked it is in use.
          flock(descriptor, LOCK_EX | LOCK_NB)
          return .success(Temporary(descriptor, folder, name))
        }
        guard errno == EEXIST else { return .failure(Failure(code: errno)) }
      }
      return .failure(Failure(code: EEXIST))
    }

    func remove() {
      if let name { unlinkat(folder, name, 0) }
      name = nil
    }

    /// Takes the permissions of another file, and its owner where that is allowed.
    func resemble(_ other: stat) {
      var own = stat()
      guard fstat(descriptor, &own) == 0 else { return }
      if own.st_uid != other.st_uid, fchown(descriptor, other.st_uid, other.st_gid) == 0 {
        // Both are taken.
      } else if own.st_gid != other.st_gid {
        fchown(descriptor, uid_t.max, other.st_gid)
      }
      fchmod(descriptor, other.st_mode & 0o777)
    }

    /// Synchronises the file and renames it; returns an error number if that failed.
    func putInPlace(of target: String) -> Int32? {
      // Some file systems cannot do it.
      if fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP { return errno }
      guard let name, renameat(folder, name, folder, target) == 0 else { return errno }
      self.name = nil
      return nil
    }

    /// Removes what processes of this user left that were killed.
    private static func removeLeftOvers(in folder: Int32) {
      Folder.eachName(in: folder) { name in
        if strncmp(name, prefix, prefix.utf8.count) == 0, strlen(name) == prefix.utf8.count + length {
          removeIfLeftOver(name, in: folder)
        }
      }
    }

    private static func removeIfLeftOver(_ name: UnsafePointer<CChar>, in folder: Int32) {
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG,
        status.st_uid == geteuid(), time(nil) - status.st_mtim.tv_sec > age
      else { return }
      let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard file >= 0 else { return }
      if flock(file, LOCK_EX | LOCK_NB) == 0 { unlinkat(folder, name, 0) }
      close(file)
    }
  }
#endif
