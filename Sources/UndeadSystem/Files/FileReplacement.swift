#if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
  import Foundation
#endif

/// Writes files: the one place in Swift code that does.
///
/// A regular file is replaced: the new content goes into a temporary file beside it, of a name that nobody can foresee, which is
/// synchronised and takes the old one's place, its permissions and its owner when it is complete. Whatever goes wrong, the
/// old file is there as it was, and nothing is left of the new one. What is no regular file (a device, a pipe, a terminal,
/// `/dev/stdout`) is written to, and never replaced or removed. Where the file can be written but its folder cannot, or is a mount
/// of its own, its content is overwritten when there is room for all of it.
package enum FileReplacement {
  /// Takes bytes of the file that is written; returns an error number if they could not be.
  package typealias Output = (UnsafeRawBufferPointer) -> Int32?

  /// Puts a file at `path`, or returns the error number.
  package static func write(_ bytes: some Collection<UInt8>, to path: String) -> Int32? {
    let bytes = Array(bytes)
    return write(to: path) { bytes.withUnsafeBytes($0) }
  }

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    /// Has a file written and puts it at `path`, or returns the error number.
    ///
    /// - Parameter body: hands the bytes over, in order; returns an error number if it could not. It may be called twice.
    package static func write(to path: String, _ body: (Output) -> Int32?) -> Int32? {
      do throws(FileDestination.Failure) {
        let destination = try FileDestination.find(path)
        switch destination.kind {
        case .stream: return body { StreamWriter.write($0, to: destination.descriptor) }
        case .file(let name, let existing):
          return replace(name, existing, in: destination.descriptor, body)
        }
      } catch {
        return error.code
      }
    }

    /// Why no file can be put at `path`, as far as that can be known without doing so; nil if nothing is in the way.
    ///
    /// What is there stays as it is, and nothing is left.
    package static func obstacle(at path: String) -> Int32? {
      do throws(FileDestination.Failure) {
        let destination = try FileDestination.find(path)
        guard case .file(let name, let existing) = destination.kind else { return nil }
        if existing != nil, faccessat(destination.descriptor, name, W_OK, AT_EACCESS) != 0 { return errno }
        let temporary: Temporary
        switch Temporary.make(in: destination.descriptor) {
        case .success(let made): temporary = made
        case .failure(let failure): return existing != nil && failure.isOfFolder ? nil : failure.code
        }
        temporary.remove()
        return nil
      } catch {
        return error.code
      }
    }

    /// What takes the bytes at a path as they come, if that is no regular file: a descriptor of the caller's; nil for a file.
    package static func stream(at path: String) throws(SystemFailure) -> Int32? {
      do throws(FileDestination.Failure) {
        let destination = try FileDestination.find(path)
        guard case .stream = destination.kind else { return nil }
        return fcntl(destination.descriptor, F_DUPFD_CLOEXEC, 3)
      } catch {
        throw SystemFailure(code: error.code)
      }
    }

    package struct SystemFailure: Error {
      /// As `errno`.
      package let code: Int32
    }

    /// Adds to a file that others add to as well, or returns the error number; then nothing of it was added.
    ///
    /// - Parameter limit: of the whole file, in bytes; `EFBIG` beyond it.
    package static func append(_ bytes: [UInt8], to path: String, limit: Int = .max) -> Int32? {
      do throws(FileDestination.Failure) {
        let destination = try FileDestination.find(path)
        guard case .file(let name, let existing) = destination.kind else {
          return bytes.withUnsafeBytes { StreamWriter.write($0, to: destination.descriptor) }
        }
        let making = existing == nil ? O_CREAT | O_EXCL : 0
        let file = openat(
          destination.descriptor, name, O_WRONLY | O_APPEND | making | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0o666)
        guard file >= 0 else { return errno }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return errno }
        guard status.st_mode & S_IFMT == S_IFREG else { return EINVAL }
        guard Int(status.st_size) <= limit - bytes.count else { return EFBIG }
        let problem = bytes.withUnsafeBytes { StreamWriter.write($0, to: file) }
        if problem != nil { _ = ftruncate(file, status.st_size) }
        return problem
      } catch {
        return error.code
      }
    }

    // MARK: Regular files

    private static func replace(
      _ name: String, _ existing: stat?, in folder: Int32, _ body: (Output) -> Int32?
    ) -> Int32? {
      // A file that may not be written is not replaced either, only because its folder may be.
      if existing != nil, faccessat(folder, name, W_OK, AT_EACCESS) != 0 { return errno }
      let temporary: Temporary
      switch Temporary.make(in: folder) {
      case .success(let made): temporary = made
      case .failure(let failure):
        return existing != nil && failure.isOfFolder ? overwrite(name, in: folder, body) : failure.code
      }
      if let existing { temporary.resemble(existing) }
      let written = body { StreamWriter.write($0, to: temporary.descriptor) }
      let problem = written ?? temporary.putInPlace(of: name)
      // A file that is a mount of its own cannot be replaced.
      return problem == EBUSY && existing != nil ? overwrite(name, in: folder, body) : problem
    }

    /// Overwrites a file, when there is room for its new content; else it stays as it was.
    private static func overwrite(_ name: String, in folder: Int32, _ body: (Output) -> Int32?) -> Int32? {
      let file = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)
      guard file >= 0 else { return errno }
      defer { close(file) }
      var status = stat()
      guard fstat(file, &status) == 0 else { return errno }
      guard status.st_mode & S_IFMT == S_IFREG else { return EINVAL }
      var size: off_t = 0
      let failed = body {
        size += off_t($0.count)
        return nil
      }
      if let failed { return failed }
      if size > status.st_size {
        let code = posix_fallocate(file, status.st_size, size - status.st_size)
        if code != 0 {
          _ = ftruncate(file, status.st_size)
          return code
        }
      }
      if let problem = body({ StreamWriter.write($0, to: file) }) { return problem }
      return ftruncate(file, size) == 0 && fsync(file) == 0 ? nil : errno
    }
  #else
    /// Has a file written and puts it at `path`, or returns an error number.
    ///
    /// - Parameters:
    ///   - body: hands the bytes over, in order; returns an error number if it could not.
    package static func write(to path: String, _ body: (Output) -> Int32?) -> Int32? {
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
