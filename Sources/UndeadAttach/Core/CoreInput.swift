import UndeadSystem

/// A file that is read where it is asked for: it may be larger than memory, and may shrink meanwhile.
final class CoreInput: Sendable {
  let path: String
  let descriptor: Int32
  let size: UInt64
  let device: UInt64
  let inode: UInt64

  init(path: String) throws(AttachError) {
    guard let (descriptor, status) = RegularFile.open(path) else {
      let code = errno
      if code == EINVAL || code == EISDIR { throw .misuse("'\(path)' is no regular file; copy it into one") }
      throw .misuse("cannot open '\(path)': \(SystemError.text(code))")
    }
    self.path = path
    self.descriptor = descriptor
    size = UInt64(max(status.st_size, 0))
    (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }

  deinit { close(descriptor) }

  /// Up to `count` bytes at `offset`; fewer at the end of the file or where it cannot be read.
  func read(at offset: UInt64, count: Int) -> [UInt8] {
    guard offset < size, count > 0 else { return [] }
    let wanted = Int(min(UInt64(count), size - offset))
    return [UInt8](unsafeUninitializedCapacity: wanted) { buffer, done in
      done = read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  /// Fills `buffer` as far as there is something; how much that was.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var done = 0
    while done < buffer.count, offset <= UInt64(Int64.max) - UInt64(buffer.count) {
      let count = pread(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      done += count
    }
    return done
  }
}
