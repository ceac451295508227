import UndeadSystem

#if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
  import Foundation
#endif

/// A file in memory of its own, that can be given back piece by piece: what is made of a large one takes as much again.
///
/// Not mapped: a file that somebody shortens meanwhile must not end the program.
final class FileMemory {
  let bytes: UnsafeRawBufferPointer

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    private let start: UnsafeMutableRawPointer
    private let size: Int

    /// Reads a file; nil if that does not work, or if it is no regular file with something in it.
    init?(path: String) {
      guard let (descriptor, status) = RegularFile.open(path) else { return nil }
      defer { close(descriptor) }
      guard status.st_size > 0, RegularFile.isBounded(status) else { return nil }
      size = Int(status.st_size)
      guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        memory != MAP_FAILED
      else { return nil }
      start = memory
      bytes = UnsafeRawBufferPointer(start: memory, count: size)
      guard RegularFile.read(descriptor, into: UnsafeMutableRawBufferPointer(start: memory, count: size)) else {
        munmap(memory, size)
        return nil
      }
    }

    deinit { munmap(start, size) }

    /// Gives back the pages that lie wholly in a range, which nobody reads again.
    func discard(_ range: Range<Int>) {
      let page = Int(getpagesize())
      let (low, high) = ((range.lowerBound + page - 1) / page * page, range.upperBound / page * page)
      if low < high { madvise(start + low, high - low, MADV_DONTNEED) }
    }
  #else
    /// Reads a file; nil if that does not work, or if there is nothing in it.
    init?(path: String) {
      guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)), !data.isEmpty else { return nil }
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: data.count, alignment: 16)
      data.copyBytes(to: memory)
      bytes = UnsafeRawBufferPointer(memory)
    }

    deinit { bytes.deallocate() }

    /// Memory comes back only with the whole file here.
    func discard(_ range: Range<Int>) {}
  #endif
}

extension Snapshot {
  /// True if a regular file starts as snapshots do.
  package static func isFile(_ path: String) -> Bool {
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      guard let (descriptor, _) = RegularFile.open(path) else { return false }
      defer { close(descriptor) }
      var start = [UInt8](repeating: 0, count: SnapshotFormat.magic.count)
      return pread(descriptor, &start, start.count, 0) == start.count && start == SnapshotFormat.magic
    #else
      guard let file = FileHandle(forReadingAtPath: path) else { return false }
      defer { try? file.close() }
      return (try? file.read(upToCount: SnapshotFormat.magic.count)).map { Array($0) } == SnapshotFormat.magic
    #endif
  }
}
