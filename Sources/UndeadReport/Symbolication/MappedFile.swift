import UndeadSystem

#if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
  import Foundation
#endif

/// A file mapped into memory to be read only; every access is checked against the size of the file.
///
/// Another user's file is copied instead: a process that shortens it while it is mapped would end this one.
///
/// Not thread-safe: use one from one thread at a time.
package final class MappedFile {
  /// The whole file; valid as long as this object lives.
  package let bytes: UnsafeRawBufferPointer

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    /// Maps `path`.
    ///
    /// - Throws: `FileProblem` if the file cannot be opened or is not a regular file.
    package init(path: String) throws(FileProblem) {
      guard let (descriptor, status) = RegularFile.open(path) else { throw FileProblem(path: path, code: errno) }
      defer { close(descriptor) }
      guard RegularFile.isBounded(status) else { throw FileProblem(path: path, code: EFBIG) }
      let size = Int(status.st_size)
      guard size > 0 else {
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        return
      }
      let isForeign = RegularFile.isForeign(status)
      guard
        let address = isForeign
          ? mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          : mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), address != MAP_FAILED
      else { throw FileProblem(path: path, code: errno) }
      if isForeign, !RegularFile.read(descriptor, into: UnsafeMutableRawBufferPointer(start: address, count: size)) {
        let code = errno
        munmap(address, size)
        throw FileProblem(path: path, code: code)
      }
      bytes = UnsafeRawBufferPointer(start: address, count: size)
    }

    deinit {
      if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }
  #else
    /// Reads `path` as a whole.
    ///
    /// - Throws: `FileProblem` if the file cannot be read.
    package init(path: String) throws(FileProblem) {
      guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
        throw FileProblem(path: path, code: FileManager.default.fileExists(atPath: path) ? EACCES : ENOENT)
      }
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: data.count, alignment: 16)
      data.copyBytes(to: memory)
      bytes = UnsafeRawBufferPointer(memory)
    }

    deinit { bytes.deallocate() }
  #endif

  /// The number at `offset`, or nil if the file ends before it.
  package func read<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type, at offset: UInt64) -> Number? {
    guard let start = Int(exactly: offset), start <= bytes.count - MemoryLayout<Number>.size else { return nil }
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: Number.self))
  }

  /// In a hostile file the name of each symbol may be all that follows.
  private static let longestName = 1 << 14

  /// The zero-terminated text at `offset`, or nil if no terminator follows before `limit` (or the end of the file).
  ///
  /// - Parameter lengths: lengths in bytes that are of interest; nil for a text of another one.
  package func text(at offset: UInt64, limit: UInt64 = .max, lengths: Set<Int>? = nil) -> String? {
    guard let start = Int(exactly: offset), start < bytes.count else { return nil }
    let most = lengths == nil ? bytes.count : Self.longestName
    let end = Int(min(UInt64(start + min(bytes.count - start, most)), limit))
    // Symbol tables have hundreds of thousands of names, and code that is not optimised compares bytes slowly.
    guard start < end, let first = bytes.baseAddress?.advanced(by: start),
      let terminator = memchr(first, 0, end - start)
    else { return nil }
    let length = UnsafeRawPointer(terminator) - first
    if let lengths, !lengths.contains(length) { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: first, count: length), as: UTF8.self)
  }

  /// True if the zero-terminated text at `offset` holds one of `parts`; false for a text longer than any name.
  package func text(at offset: UInt64, holdsOneOf parts: [String]) -> Bool {
    guard let start = Int(exactly: offset), start < bytes.count, let first = bytes.baseAddress?.advanced(by: start),
      memchr(first, 0, min(bytes.count - start, Self.longestName)) != nil
    else { return false }
    let text = first.assumingMemoryBound(to: CChar.self)
    return parts.contains { strstr(text, $0) != nil }
  }

  /// `count` bytes from `offset` on; fewer where the file ends.
  package func bytes(at offset: UInt64, count: Int) -> [UInt8] {
    Array(bytes.dropFirst(Int(clamping: offset)).prefix(count))
  }
}
