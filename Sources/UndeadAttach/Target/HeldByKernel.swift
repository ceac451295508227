import CUndeadTrace
import UndeadSystem

/// Words that the kernel holds for a program and gives back later, which may be the only references to objects: data of
/// epoll, of timers, of signals that wait, and what pipes and local sockets were given and nobody has read.
struct HeldByKernel {
  private let pid: pid_t
  private let polls: Set<pid_t>
  /// Pipes and local sockets, and who has them.
  private let queues: [pid_t]
  private let process: ProcessHandle?
  private var texts: [(label: String, text: [UInt8])] = []
  private var unread: [UInt64] = []
  private var signals: [UInt64] = []
  private var isComplete: Bool

  /// Before the program is stopped: a look at all of its files takes its time.
  init(for pid: pid_t) {
    self.pid = pid
    (polls, isComplete) = Self.polls(of: pid)
    process = ProcessHandle(of: pid)
    queues = process.map(Self.queues) ?? []
  }

  /// Files of epoll; false if there is something whose words are unknown.
  private static func polls(of pid: pid_t) -> (Set<pid_t>, Bool) {
    var polls: Set<pid_t> = []
    for file in ProcFile.files(of: pid) {
      switch SymbolicLink.target("/proc/\(pid)/fd/\(file)") {
      case "anon_inode:[eventpoll]": polls.insert(file)
      case "anon_inode:[io_uring]": return (polls, false)
      default: break
      }
    }
    return (polls, true)
  }

  /// Files of other kinds are not touched: to close even a copy of one may wait for a server.
  private static func queues(of process: ProcessHandle) -> [pid_t] {
    ProcFile.files(of: process.pid).filter { file in
      let target = SymbolicLink.target("/proc/\(process.pid)/fd/\(file)") ?? ""
      return (target.hasPrefix("pipe:") || target.hasPrefix("socket:")) && process.keepsUnread(file)
    }
  }

  /// While the program stands still.
  mutating func read(_ threads: [TracedThread]) {
    for file in polls {
      guard let text = WholeFile.read("/proc/\(pid)/fdinfo/\(file)") else {
        isComplete = false
        continue
      }
      texts.append((" data:", text))
    }
    // Not there in kernels without them.
    if let text = WholeFile.read("/proc/\(pid)/timers") { texts.append(("/", text)) }
    for file in queues { isComplete = addUnread(in: file) && isComplete }
    for (index, thread) in threads.enumerated() {
      isComplete = isComplete && add(thread, shared: false) && (index > 0 || add(thread, shared: true))
    }
  }

  /// What a pipe has room for that nobody enlarged. The number is that of scan/roots/kernel_held.c, as what it does with the bytes.
  private static let mostUnread = 64 << 10
  private static let mostWords = 1 << 20

  private mutating func addUnread(in file: pid_t) -> Bool {
    guard let process else { return true }
    guard unread.count < Self.mostWords else { return false }
    return withUnsafeTemporaryAllocation(byteCount: Self.mostUnread, alignment: 8) { bytes in
      let (count, more) = process.unread(file, into: bytes)
      for start in stride(from: 0, through: count - 8, by: 1) {
        let word = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        if word >= 4096, (word & 0x00FF_FFFF_FFFF_FFF8) >> 47 == 0 { unread.append(word) }
      }
      return !more
    }
  }

  /// The kernel walks from the first signal to each one that is asked for, while the program stands still: so many take a
  /// millisecond or two, 60,000 half a minute. The number is that of scan/roots/kernel_held.c.
  private static let mostSignals: UInt64 = 512

  /// What comes with the signals that wait for a thread, or for the process; false if there are too many.
  private mutating func add(_ thread: TracedThread, shared: Bool) -> Bool {
    let most = 32
    var information = [UInt64](repeating: 0, count: most * 16)
    // struct ptrace_peeksiginfo_args: first, flags, count.
    var request: (first: UInt64, flags: UInt32, count: Int32) = (0, shared ? 1 : 0, Int32(most))
    while true {
      let count = withUnsafeMutablePointer(to: &request) { request in
        information.withUnsafeMutableBytes {
          undead_trace_request(
            Ptrace.peekSignals, thread.tid, UInt64(UInt(bitPattern: request)), UInt64(UInt(bitPattern: $0.baseAddress!))
          )
        }
      }
      guard count >= 0 else { return false }
      signals += information.prefix(Int(count) * 16)
      if count < most { return true }
      request.first += UInt64(count)
      if request.first >= Self.mostSignals { return false }
    }
  }

  /// When the program goes on: all of the words, or nil if there may be others.
  func words(in maps: MemoryMap) -> [UInt64]? {
    guard isComplete, Self.polls(of: pid) == (polls, true), !maps.regions.contains(where: { $0.path == "/[aio]" })
    else {
      return nil
    }
    // What is no address of anything cannot be a reference.
    return (signals + unread + texts.flatMap { Self.numbers(behind: $0.label, in: $0.text) }).filter { $0 >= 4096 }
  }

  /// The hexadecimal number behind the first `label` of each line.
  static func numbers(behind label: String, in text: [UInt8]) -> [UInt64] {
    let label = Array(label.utf8)
    return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let line = Array(line)
      guard
        let start = line.indices.first(where: {
          line[$0] == label[0] && line[$0...].starts(with: label)
        })
      else { return nil }
      let digits = line[(start + label.count)...].drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
      return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }
  }
}
