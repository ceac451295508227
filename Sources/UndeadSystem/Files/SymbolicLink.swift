#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// Names that lead to others.
  package enum SymbolicLink {
    /// The path that a link leads to, without following further ones; nil if it is no link.
    package static func target(_ path: String) -> String? {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
        let length = readlink(path, buffer.baseAddress!, buffer.count)
        guard length > 0 else { return nil }
        return String(decoding: UnsafeRawBufferPointer(buffer).prefix(length), as: UTF8.self)
      }
    }
  }
#endif
