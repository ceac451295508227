#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// A file that is read because it lies in a folder, and not because the user named it: options and suppressions of a package.
  ///
  /// Such a file is obeyed only if nobody but this user and root can have written it: both own the file and its folder, nobody else
  /// can write either, and the name is no link. What is checked is what is read.
  package enum FoundFile {
    /// There is none.
    case missing
    case content([UInt8])
    /// Somebody else may have written it: why, as words after the name of the file.
    case doubtful(String)
    /// As `errno`.
    case unreadable(Int32)

    private static let limit = 16 << 20

    /// - Parameter folder: a path without links.
    package static func read(_ name: String, in folder: String) -> FoundFile {
      guard let place = Folder(folder), let status = place.status else {
        return errno == ENOENT ? .missing : .unreadable(errno)
      }
      guard let entry = place.status(of: name) else { return errno == ENOENT ? .missing : .unreadable(errno) }
      if entry.st_mode & S_IFMT == S_IFLNK { return .doubtful("is a symbolic link") }
      guard let file = place.open(name) else {
        switch errno {
        case EMLINK: return .doubtful("has further names (hard links)")
        case EINVAL: return .doubtful("is no regular file")
        default: return .unreadable(errno)
        }
      }
      defer { close(file.descriptor) }
      if let doubt = Ownership.doubt(file.status) { return .doubtful(doubt) }
      if let doubt = Ownership.doubt(status) { return .doubtful("lies in a folder that \(doubt)") }
      return RegularFile.content(of: file.descriptor, limit: limit).map { .content($0) } ?? .unreadable(errno)
    }

    /// What to say of a file that is not obeyed, in one sentence.
    ///
    /// - Parameter instead: what the user can do to have it obeyed all the same.
    package static func sentence(_ path: String, _ doubt: String, instead: String) -> String {
      "'\(path)' is ignored, since it \(doubt): make it and its folder your own and writable by nobody else (chown, chmod go-w), "
        + "or \(instead)"
    }
  }
#endif
