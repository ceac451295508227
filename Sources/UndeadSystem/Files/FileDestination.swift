#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// What a path leads to that is to be written: a place for a regular file, or something that takes bytes as they come.
  ///
  /// Links are followed one by one, so that the file that the last one leads to is replaced and the links stay. As the kernel
  /// does if `fs.protected_symlinks` is set, what somebody else has put into a folder where everybody may put
  /// things (`/tmp`) is neither followed nor written to.
  struct FileDestination: ~Copyable {
    enum Kind {
      /// A regular file, or none yet, of this name in the folder.
      case file(name: String, existing: stat?)
      /// A device, a pipe, a terminal, or a stream of this process (`/dev/stdout`): open, to be written to as it is.
      case stream
    }

    struct Failure: Error {
      let code: Int32
    }

    let kind: Kind
    /// Of the folder, or of the stream.
    let descriptor: Int32

    private init(_ kind: Kind, _ descriptor: Int32) {
      self.kind = kind
      self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static let mostLinks = 40

    static func find(_ path: String) throws(Failure) -> FileDestination {
      var path = path
      var start = AT_FDCWD
      defer { if start >= 0 { close(start) } }
      for _ in 0..<mostLinks {
        let (parent, name) = split(path)
        guard !name.isEmpty, name != ".", name != ".." else { throw Failure(code: path.isEmpty ? ENOENT : EISDIR) }
        let folder = openat(start, parent, RegularFile.pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Failure(code: errno) }
        switch try step(folder, name) {
        case .done(let kind, let descriptor):
          if descriptor != folder { close(folder) }
          return FileDestination(kind, descriptor)
        case .link(let target):
          if start >= 0 { close(start) }
          (start, path) = (folder, target)
        }
      }
      throw Failure(code: ELOOP)
    }

    private enum Step {
      case done(Kind, Int32)
      case link(String)
    }

    /// Closes the folder if it throws.
    private static func step(_ folder: Int32, _ name: String) throws(Failure) -> Step {
      func fail(_ code: Int32) -> Failure {
        close(folder)
        return Failure(code: code)
      }
      if let number = Int32(name), isOfOwnStreams(folder) {
        let stream = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard stream >= 0 else { throw fail(errno) }
        return .done(.stream, stream)
      }
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        guard errno == ENOENT else { throw fail(errno) }
        return .done(.file(name: name, existing: nil), folder)
      }
      guard !isPlanted(status, in: folder) else { throw fail(EACCES) }
      switch status.st_mode & S_IFMT {
      case S_IFLNK:
        guard let target = linkTarget(folder, name) else { throw fail(errno) }
        return .link(target)
      case S_IFREG: return .done(.file(name: name, existing: status), folder)
      case S_IFDIR: throw fail(EISDIR)
      default:
        let device = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)
        guard device >= 0 else { throw fail(errno) }
        return .done(.stream, device)
      }
    }

    private static func split(_ path: String) -> (parent: String, name: String) {
      guard let slash = path.lastIndex(of: "/") else { return (".", path) }
      let parent = path[..<slash]
      return (parent.isEmpty ? "/" : String(parent), String(path[path.index(after: slash)...]))
    }

    private static func linkTarget(_ folder: Int32, _ name: String) -> String? {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
        let length = readlinkat(folder, name, buffer.baseAddress!, buffer.count)
        guard length > 0 else { return nil }
        return String(decoding: UnsafeRawBufferPointer(buffer).prefix(length), as: UTF8.self)
      }
    }

    /// True for the folder of this process's open files, to which `/dev/stdout` leads.
    private static func isOfOwnStreams(_ folder: Int32) -> Bool {
      guard let path = linkTarget(AT_FDCWD, "/proc/self/fd/\(folder)"), path.hasPrefix("/proc/") else { return false }
      return path == "/proc/\(getpid())/fd" || path.hasPrefix("/proc/\(getpid())/task/") && path.hasSuffix("/fd")
    }

    /// True if somebody else has put it into a folder where everybody may put things, but nobody take others' away.
    private static func isPlanted(_ status: stat, in folder: Int32) -> Bool {
      var place = stat()
      guard fstat(folder, &place) == 0 else { return true }
      let isShared = place.st_mode & S_ISVTX != 0 && place.st_mode & S_IWOTH != 0
      return isShared && status.st_uid != geteuid() && status.st_uid != place.st_uid
    }
  }
#endif
