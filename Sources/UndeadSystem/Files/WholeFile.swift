#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// Files that are read at once, also those that have no known size, as in `/proc`.
  package enum WholeFile {
    /// The whole content, or nil with `errno` set.
    ///
    /// A pipe is waited for: the path is the user's own, or one of `/proc`. Others open theirs by ``RegularFile``.
    package static func read(_ path: String) -> [UInt8]? {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      return RegularFile.content(of: descriptor, limit: Int(RegularFile.limit))
    }
  }
#endif
