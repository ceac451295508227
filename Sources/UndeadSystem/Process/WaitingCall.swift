#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT && arch(x86_64)
  import Glibc

  /// A call of the kernel that a thread waits in, and the open files that it waits for: their numbers are its arguments.
  struct WaitingCall {
    /// Name of the call: `read`, `accept`.
    let name: String
    let descriptors: [Int32]

    /// Calls of x86-64 whose first argument is the number of an open file.
    private static let ofOne: [Int: String] = [
      0: "read", 1: "write", 16: "ioctl", 17: "pread", 18: "pwrite", 19: "readv", 20: "writev", 42: "connect",
      43: "accept",
      44: "sendto", 45: "recv", 46: "sendmsg", 47: "recvmsg", 72: "fcntl", 73: "flock", 232: "epoll_wait",
      281: "epoll_wait",
      288: "accept", 299: "recvmmsg", 307: "sendmmsg", 441: "epoll_wait",
    ]
    /// Those with an array of such numbers.
    private static let ofSeveral: [Int: String] = [7: "poll", 271: "poll"]
    private static let mostPolled: UInt64 = 256

    /// nil if the thread runs, waits for something else, or may not be asked.
    ///
    /// - Parameter process: `self` for the caller's.
    init?(of thread: UInt32, process: String) {
      let line = WholeFile.read("/proc/\(process)/task/\(thread)/syscall") ?? []
      // "0 0x5 0x7ffe... 0x1 ...": the number of the call in decimal digits, its arguments, stack pointer and place.
      let words = String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "\n" }
      guard words.count > 2, let number = Int(words[0]) else { return nil }
      let arguments = words[1...].compactMap { UInt64($0.dropFirst(2), radix: 16) }
      guard arguments.count > 2 else { return nil }
      if let name = Self.ofOne[number] {
        self.name = name
        descriptors = [Int32(truncatingIfNeeded: arguments[0])]
      } else if let name = Self.ofSeveral[number], arguments[1] <= Self.mostPolled {
        self.name = name
        descriptors = Self.polled(at: arguments[0], Int(arguments[1]), process)
      } else {
        return nil
      }
    }

    /// Numbers in an array of `struct pollfd`.
    private static func polled(at address: UInt64, _ count: Int, _ process: String) -> [Int32] {
      guard count > 0, let place = off_t(exactly: address) else { return [] }
      let descriptor = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return [] }
      defer { close(descriptor) }
      var polled = [pollfd](repeating: pollfd(fd: -1, events: 0, revents: 0), count: count)
      let size = count * MemoryLayout<pollfd>.stride
      guard pread(descriptor, &polled, size, place) == size else { return [] }
      return polled.map(\.fd)
    }
  }
#endif
