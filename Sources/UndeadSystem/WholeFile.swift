#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// Files that are read at once, also those that have no known size, as in `/proc`.
  package enum WholeFile {
    /// The whole content, or nil with `errno` set.
    package static func read(_ path: String) -> [UInt8]? {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var content: [UInt8] = []
      var status = stat()
      // A snapshot may be large: growing step by step would take its memory twice.
      if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        content.reserveCapacity(Int(status.st_size) + 1)
      }
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        if count > 0 {
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
