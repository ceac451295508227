#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Puts a new file in the place of another when it is complete.
enum FileReplacement {
  /// Has a file written and puts it at `path`, or returns the error number; nothing half-written is left.
  ///
  /// - Parameters:
  ///   - body: writes to a descriptor; returns an error number if it could not.
  static func write(to path: String, _ body: (Int32) -> Int32?) -> Int32? {
    // A link stays, and what it leads to is replaced.
    let target = resolved(path)
    var status = stat()
    if stat(target, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return writeInPlace(target, body) }
    let temporary = "\(target).undead-\(getpid())"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      // The file may be ours to write, and its directory not.
      return [EACCES, EPERM, EROFS].contains(errno) ? writeInPlace(target, body) : errno
    }
    var problem = body(descriptor)
    if close(descriptor) != 0, problem == nil { problem = errno }
    if problem == nil, rename(temporary, target) != 0 { problem = errno }
    if problem != nil { unlink(temporary) }
    // A file that is a mount of its own cannot be replaced.
    return problem == EBUSY ? writeInPlace(target, body) : problem
  }

  private static func writeInPlace(_ path: String, _ body: (Int32) -> Int32?) -> Int32? {
    let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { return errno }
    var problem = body(descriptor)
    if problem != nil { _ = ftruncate(descriptor, 0) }
    if close(descriptor) != 0, problem == nil { problem = errno }
    return problem
  }

  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  /// Writes everything, or returns the error number.
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
    var rest = bytes
    while !rest.isEmpty {
      #if canImport(Glibc)
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      #else
        let count = Musl.write(descriptor, rest.baseAddress, rest.count)
      #endif
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }
}
