#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// Opens files that somebody else may have named or put there: regular files only.
  ///
  /// What has the name is looked at before it is opened: opening a pipe waits, and opening a device may do something. What was
  /// looked at is what is opened, even if the name has changed meanwhile. Callers close the descriptor.
  package enum RegularFile {
    /// `O_PATH` of <fcntl.h>, which Swift does not see.
    static let pathOnly: Int32 = 0o10000000
    /// More than any file that the tool reads, and less than what would fill a machine.
    package static let limit: off_t = 16 << 30

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: below the folder `descriptor`, if it is relative.
    ///   - mode: `O_RDONLY` or `O_WRONLY`.
    ///   - followsLink: false if a link in the place of the file is not followed.
    ///   - orPipe: true if a pipe without a name will do, and is waited for: the user's own (`<(command)`, `/dev/stdin`).
    /// - Returns: nil with `errno` set: `EISDIR`, `ELOOP` for a link, `EINVAL` for what else is no regular file.
    package static func open(
      _ path: String, in descriptor: Int32 = AT_FDCWD, mode: Int32 = O_RDONLY, followsLink: Bool = true,
      orPipe: Bool = false
    ) -> (descriptor: Int32, status: stat)? {
      let found = openat(descriptor, path, pathOnly | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW))
      guard found >= 0 else { return nil }
      defer { close(found) }
      var status = stat()
      guard fstat(found, &status) == 0 else { return nil }
      if orPipe, isNamelessPipe(found, status) {
        let pipe = Glibc.open("/proc/self/fd/\(found)", mode | O_CLOEXEC)
        return pipe < 0 ? nil : (pipe, status)
      }
      guard isRegular(status) else { return nil }
      let file = Glibc.open("/proc/self/fd/\(found)", mode | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
      if file >= 0 { return (file, status) }
      // Without /proc: what was exchanged in between is seen afterwards.
      guard errno == ENOENT else { return nil }
      let named = openat(
        descriptor, path, mode | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
      guard named >= 0 else { return nil }
      if fstat(named, &status) == 0, isRegular(status) { return (named, status) }
      let code = errno
      close(named)
      errno = code
      return nil
    }

    /// False with `errno` set.
    private static func isRegular(_ status: stat) -> Bool {
      switch status.st_mode & S_IFMT {
      case S_IFREG: return true
      case S_IFDIR: errno = EISDIR
      case S_IFLNK: errno = ELOOP
      default: errno = EINVAL
      }
      return false
    }

    /// True for one end of `pipe(2)`: the kernel shows what has a name in a folder by its path.
    private static func isNamelessPipe(_ descriptor: Int32, _ status: stat) -> Bool {
      guard status.st_mode & S_IFMT == S_IFIFO else { return false }
      var name = [CChar](repeating: 0, count: 6)
      return readlink("/proc/self/fd/\(descriptor)", &name, name.count) == name.count
        && name.elementsEqual("pipe:[".utf8.map { CChar($0) })
    }

    /// True if the file is another user's, who may change it at any moment: it is not mapped, and its size is not believed.
    package static func isForeign(_ status: stat) -> Bool { status.st_uid != geteuid() && status.st_uid != 0 }

    /// True if a file is not larger than what can be read: the size of a file with holes costs its owner nothing.
    package static func isBounded(_ status: stat) -> Bool {
      guard isForeign(status) else { return true }
      return status.st_size <= limit && status.st_size / 64 <= off_t(status.st_blocks) * 512 + (1 << 20)
    }

    /// Fills memory from the start of an open file; false with `errno` set if the file is shorter.
    package static func read(_ descriptor: Int32, into memory: UnsafeMutableRawBufferPointer) -> Bool {
      var done = 0
      while done < memory.count {
        let count = pread(descriptor, memory.baseAddress! + done, memory.count - done, off_t(done))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
          if count == 0 { errno = EIO }
          return false
        }
        done += count
      }
      return true
    }

    /// The whole content of an open file, which is not closed; nil with `errno` set, `EFBIG` beyond `limit`.
    package static func content(of descriptor: Int32, limit: Int) -> [UInt8]? {
      var content: [UInt8] = []
      var status = stat()
      // A snapshot may be large: growing step by step would take its memory twice.
      if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        guard status.st_size <= limit, isBounded(status) else {
          errno = EFBIG
          return nil
        }
        content.reserveCapacity(Int(status.st_size) + 1)
      }
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        if count > 0 {
          guard content.count + count <= limit else {
            errno = EFBIG
            return nil
          }
          content.append(contentsOf: chunk[0..<count])
        } else if count == 0 {
          return content
        } else if errno != EINTR {
          return nil
        }
      }
    }
  }
#endif
