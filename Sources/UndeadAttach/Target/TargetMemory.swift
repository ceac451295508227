import CUndeadTrace
import UndeadSystem

/// The memory of another process, by `/proc/PID/mem`.
///
/// Writing reaches pages that the process itself may not write to, as a debugger's break points do; such a page becomes
/// the process's own.
package final class TargetMemory {
  private let descriptor: Int32
  private let tid: pid_t

  /// - Parameter tid: a thread of the process that has not ended.
  package init(of tid: pid_t) throws(AttachError) {
    self.tid = tid
    let writable = open("/proc/\(tid)/mem", O_RDWR | O_CLOEXEC)
    descriptor = writable >= 0 ? writable : open("/proc/\(tid)/mem", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .failure("cannot open the memory of process \(tid): \(SystemError.text(errno))")
    }
  }

  deinit { close(descriptor) }

  /// Fills a buffer; gives back how much could be read from the start on.
  package func read(at address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var done = 0
    while done < buffer.count {
      let count = pread(
        descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(truncatingIfNeeded: address &+ UInt64(done)))
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        break
      }
    }
    return done
  }

  /// What lies at an address; nil if not all of it can be read.
  package func read(at address: UInt64, count: Int) -> [UInt8]? {
    guard count >= 0, address < 1 << 47 else { return nil }
    var complete = true
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = read(at: address, into: UnsafeMutableRawBufferPointer(buffer))
      complete = initialized == count
    }
    return complete ? bytes : nil
  }

  /// A number; nil if it cannot be read.
  package func load<Number: FixedWidthInteger>(_ type: Number.Type, at address: UInt64) -> Number? {
    guard address < 1 << 47 else { return nil }
    var number = Number.zero
    let count = withUnsafeMutableBytes(of: &number) { read(at: address, into: $0) }
    return count == MemoryLayout<Number>.size ? number : nil
  }

  /// Text up to its zero, at most `limit` bytes.
  package func text(at address: UInt64, limit: Int = 4096) -> String? {
    var bytes: [UInt8] = []
    while bytes.count < limit {
      // Not over the end of a page: the next one may be missing.
      let here = address &+ UInt64(bytes.count)
      let room = min(limit - bytes.count, Int(4096 - here % 4096))
      guard let chunk = read(at: here, count: room) else { return nil }
      if let end = chunk.firstIndex(of: 0) {
        return String(decoding: bytes + chunk[..<end], as: UTF8.self)
      }
      bytes += chunk
    }
    return nil
  }

  /// Writes all of it, or throws (failure).
  package func write(_ bytes: UnsafeRawBufferPointer, at address: UInt64) throws(AttachError) {
    var done = 0
    while done < bytes.count {
      let place = address &+ UInt64(done)
      let count = pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(truncatingIfNeeded: place))
      if count > 0 {
        done += count
      } else if count < 0 && errno == EINTR {
        continue
      } else {
        // The kernel may keep others from writing by this file, though not a tracer.
        try poke(UnsafeRawBufferPointer(rebasing: bytes[done...]), at: place)
        return
      }
    }
  }

  package func write(_ bytes: [UInt8], at address: UInt64) throws(AttachError) {
    do {
      try bytes.withUnsafeBytes { try write($0, at: address) }
    } catch let error as AttachError {
      throw error
    } catch {
      throw .failure("\(error)")
    }
  }

  private func poke(_ bytes: UnsafeRawBufferPointer, at address: UInt64) throws(AttachError) {
    let code = errno
    var done = 0
    while done < bytes.count {
      let place = (address &+ UInt64(done)) & ~7
      guard var word = load(UInt64.self, at: place) else { throw unwritable(address, code) }
      withUnsafeMutableBytes(of: &word) { word in
        var index = Int(address &+ UInt64(done) - place)
        while index < 8 && done < bytes.count {
          word[index] = bytes[done]
          index += 1
          done += 1
        }
      }
      guard undead_trace_request(Ptrace.pokeData, tid, place, word) >= 0 else { throw unwritable(place, code) }
    }
  }

  private func unwritable(_ address: UInt64, _ code: Int32) -> AttachError {
    .failure(
      "cannot write to the memory of process \(tid) at 0x\(String(address, radix: 16)): \(SystemError.text(code))")
  }
}
