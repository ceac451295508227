#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc
#endif

/// An open file of a process, as `/proc` shows it.
///
/// Paths and names are the process's, or of whoever it talks to: they have to be made visible before they are shown.
package struct OpenDescriptor: Sendable, Hashable {
  /// What it leads to.
  package enum Kind: String, Sendable, CaseIterable, Codable {
    case socket, file, pipe, device
    /// epoll, eventfd, timerfd, signalfd, inotify, memfd.
    case epoll, event, timer, signal, notification, memory
    case other
  }

  package var number: Int32
  package var kind: Kind
  /// A path, or the two ends of a connection.
  package var target: String

  package init(number: Int32, kind: Kind, target: String) {
    self.number = number
    self.kind = kind
    self.target = target
  }
}

#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  extension OpenDescriptor {
    /// Most that are looked at: a limit of a million is not unusual.
    private static let most = 1 << 20

    /// All of a process, ascending; none if they may not be read.
    ///
    /// - Parameter process: `self` for the caller's.
    package static func all(of process: String) -> [OpenDescriptor] {
      let directory = "/proc/\(process)/fd"
      var found: [OpenDescriptor] = []
      var sockets: [(index: Int, inode: UInt64)] = []
      let numbers = Folder.names(in: directory).prefix(most).compactMap { Int32($0) }.sorted()
      for number in numbers {
        // It may be closed by now; so is the one that the folder was read with.
        guard let link = SymbolicLink.target("\(directory)/\(number)") else { continue }
        if let inode = inode(link, "socket:[") { sockets.append((found.count, inode)) }
        found.append(OpenDescriptor(number: number, kind: kind(link), target: link))
      }
      guard !sockets.isEmpty else { return found }
      let names = SocketNames(of: process, inodes: Set(sockets.map(\.inode)))
      for socket in sockets { found[socket.index].target = names[socket.inode] ?? "socket" }
      return found
    }

    /// The number in `socket:[4711]`.
    private static func inode(_ link: String, _ start: String) -> UInt64? {
      guard link.hasPrefix(start), link.hasSuffix("]") else { return nil }
      return UInt64(link.dropFirst(start.count).dropLast())
    }

    private static let anonymous: [(name: String, kind: Kind)] = [
      ("[eventpoll]", .epoll), ("[eventfd]", .event), ("[timerfd]", .timer), ("[signalfd]", .signal),
      ("inotify", .notification), ("[inotify]", .notification),
    ]

    private static func kind(_ link: String) -> Kind {
      if inode(link, "socket:[") != nil { return .socket }
      if inode(link, "pipe:[") != nil { return .pipe }
      if link.hasPrefix("/memfd:") { return .memory }
      if link.hasPrefix("anon_inode:") {
        let name = link.dropFirst("anon_inode:".count)
        return anonymous.first { $0.name == name }?.kind ?? .other
      }
      // A look at the file itself may wait for another machine.
      return link.hasPrefix("/dev/") ? .device : link.hasPrefix("/") ? .file : .other
    }
  }
#endif
