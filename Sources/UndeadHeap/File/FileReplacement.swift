import UndeadSystem

#if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
  import Foundation
#endif

/// Puts a new file in the place of another when it is complete.
enum FileReplacement {
  /// Takes bytes of the file that is written; returns an error number if they could not be.
  typealias Output = (UnsafeRawBufferPointer) -> Int32?

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    /// Has a file written and puts it at `path`, or returns the error number; nothing half-written is left.
    ///
    /// - Parameters:
    ///   - body: hands the bytes over, in order; returns an error number if it could not.
    static func write(to path: String, _ body: (Output) -> Int32?) -> Int32? {
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
      var problem = body { write($0, to: descriptor) }
      if close(descriptor) != 0, problem == nil { problem = errno }
      if problem == nil, rename(temporary, target) != 0 { problem = errno }
      if problem != nil { unlink(temporary) }
      // A file that is a mount of its own cannot be replaced.
      return problem == EBUSY ? writeInPlace(target, body) : problem
    }

    private static func writeInPlace(_ path: String, _ body: (Output) -> Int32?) -> Int32? {
      let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY)
      guard descriptor >= 0 else { return errno }
      var problem = body { write($0, to: descriptor) }
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
    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
      var rest = bytes
      while !rest.isEmpty {
        let count = UndeadSystem.write(descriptor, rest.baseAddress, rest.count)
        if count >= 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
  #else
    /// Has a file written and puts it at `path`, or returns an error number.
    ///
    /// - Parameters:
    ///   - body: hands the bytes over, in order; returns an error number if it could not.
    static func write(to path: String, _ body: (Output) -> Int32?) -> Int32? {
      var data = Data()
      let problem = body {
        data.append(contentsOf: $0)
        return nil
      }
      if let problem { return problem }
      return (try? data.write(to: URL(fileURLWithPath: path), options: .atomic)) == nil ? EIO : nil
    }
  #endif
}
