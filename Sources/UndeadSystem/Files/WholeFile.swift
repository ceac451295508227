#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// Files that are read at once, also those that have no known size, as in `/proc`.
  package enum WholeFile {
    /// The whole content of a file that the user names, or of a pipe of a shell's; nil with `errno` set, `EINVAL` for what may never
    /// end: devices, sockets, and pipes that have a name.
    package static func read(named path: String) -> [UInt8]? {
      guard let (descriptor, _) = RegularFile.open(path, orPipe: true) else { return nil }
      defer { close(descriptor) }
      return RegularFile.content(of: descriptor, limit: Int(RegularFile.limit))
    }

    /// The whole content of a file of the system's, such as those in `/proc`; nil with `errno` set.
    package static func read(_ path: String) -> [UInt8]? {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      return RegularFile.content(of: descriptor, limit: Int(RegularFile.limit))
    }
  }
#endif
