#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// Bytes to a descriptor.
  package enum StreamWriter {
    /// Writes everything, or returns the error number.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
      var rest = bytes
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count >= 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno == EAGAIN {
          // The program may have made the terminal non-blocking, which it shares with us.
          var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&poller, 1, 1000)
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
  }
#endif
