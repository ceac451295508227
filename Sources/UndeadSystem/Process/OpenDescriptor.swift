#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc
#endif

/// An open file of a process, as `/proc` shows it.
///
/// Paths and names are the process's, or of those it talks to: they have to be made visible before they are shown.
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
  /// The thread that waits in a call of the kernel for it; 0 if none does.
  package var waiter: UInt32

  /// True for those that libdispatch has for itself.
  package var isOfDispatch: Bool { target.hasSuffix(Self.ofDispatch) }
  fileprivate static let ofDispatch = " of libdispatch"

  package init(number: Int32, kind: Kind, target: String, waiter: UInt32 = 0) {
    self.number = number
    self.kind = kind
    self.target = target
    self.waiter = waiter
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
      var found = open(of: process)
      let own = ownOfDispatch(found, process)
      for index in found.indices where own.contains(found[index].number) { found[index].target += ofDispatch }
      let inodes = found.map { $0.kind == .socket ? inode($0.target, "socket:[") : nil }
      guard inodes.contains(where: { $0 != nil }) else { return found }
      let names = SocketNames(inodes: Set(inodes.compactMap(\.self))) { WholeFile.read("/proc/\(process)/net/\($0)") }
      for (index, inode) in inodes.enumerated() {
        if let inode { found[index].target = names[inode] ?? "socket" }
      }
      return found
    }

    /// The same without those that libdispatch has for itself, and with what each number leads to as the kernel says it: equal ones are
    /// the same open file.
    package static func links(of process: String) -> [OpenDescriptor] {
      let found = open(of: process)
      let own = ownOfDispatch(found, process)
      return found.filter { !own.contains($0.number) }
    }

    private static func open(of process: String) -> [OpenDescriptor] {
      let directory = "/proc/\(process)/fd"
      return Folder.names(in: directory).prefix(most).compactMap { Int32($0) }.sorted().compactMap { number in
        // It may be closed by now; so is the one that the folder was read with.
        SymbolicLink.target("\(directory)/\(number)").map {
          OpenDescriptor(number: number, kind: kind($0), target: $0)
        }
      }
    }

    /// libdispatch waits for its own event and timers with these numbers as data (event_epoll.c: DISPATCH_EPOLL_EVENTFD and the
    /// clocks), where others have addresses or their descriptors.
    private static func ownOfDispatch(_ found: [OpenDescriptor], _ process: String) -> Set<Int32> {
      let kinds = Dictionary(found.map { ($0.number, $0.kind) }) { first, _ in first }
      for poll in found where poll.kind == .epoll {
        var own: Set<Int32> = []
        for line in lines("/proc/\(process)/fdinfo/\(poll.number)") {
          let words = line.split(separator: " ")
          guard words.count > 5, words[0] == "tfd:", words[4] == "data:", let number = Int32(words[1]),
            let data = UInt64(words[5], radix: 16)
          else { continue }
          if data == 1, kinds[number] == .event { own.insert(poll.number) }
          if (data == 1 && kinds[number] == .event) || ((2...4).contains(data) && kinds[number] == .timer) {
            own.insert(number)
          }
        }
        if own.contains(poll.number) { return own }
      }
      return []
    }

    private static func lines(_ path: String) -> [Substring] {
      String(decoding: WholeFile.read(path) ?? [], as: UTF8.self).split(separator: "\n")
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
