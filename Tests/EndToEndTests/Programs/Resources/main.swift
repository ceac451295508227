// Slices that keep large buffers, descriptors that objects have, and threads. "more" opens ten more.
import Dispatch
import Foundation
import NIOCore

final class Owner {
  let name: Substring
  init(_ name: Substring) { self.name = name }
}

final class Frame {
  let head: ByteBuffer
  let whole: ByteBuffer?
  init(_ head: ByteBuffer, _ whole: ByteBuffer? = nil) { (self.head, self.whole) = (head, whole) }
}

final class Connection {
  let fd: Int32
  init(_ fd: Int32) { self.fd = fd }
}

final class Job {
  var steps = 0
}

@inline(never) @_optimize(none) func work() {
  let job = Job()
  while true {
    sleep(1000)
    job.steps += 1
  }
}

struct FileDescriptor: Hashable { let rawValue: CInt }

final class Log {
  let file = FileDescriptor(rawValue: open("/dev/zero", O_RDONLY))
  var socketFD: Int32? = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
  var closedFD: Int32?
}

enum Line {
  case open(FileDescriptor)
  case closed
}

/// Descriptors in collections, in cases and behind names of other forms.
final class Switchboard {
  var clients: [Int32: String] = [:]
  var lines: Set<FileDescriptor> = []
  var spare: [Int32] = []
  var last: FileDescriptor?
  var line = Line.closed
  var fileDescriptor = -1
  let epfd: Int32
  /// The numbers of open files among others.
  var weights: [Int32: Int] = [:]
  init(_ epfd: Int32) { self.epfd = epfd }
}

struct Listener {
  var port = 80
  var fd: Int32
}

func text(_ count: Int) -> String { String(repeating: "a text, not all of it in ASCII: \u{E9} ", count: count) }

nonisolated(unsafe) var globalText: Substring = ""
nonisolated(unsafe) var globalNumbers: ArraySlice<Int> = Array(0..<400_000)[5..<8]
nonisolated(unsafe) var owner = Owner(text(40_000).dropFirst(20).prefix(10))
nonisolated(unsafe) var switchboard: Switchboard?
nonisolated(unsafe) var globalFD: Int32 = -1
nonisolated(unsafe) var frames: [Frame] = []
nonisolated(unsafe) var connections: [Connection] = []
nonisolated(unsafe) var listeners: [Listener] = []
nonisolated(unsafe) var named: [String: Listener] = [:]
nonisolated(unsafe) var kept: [AnyObject] = []
nonisolated(unsafe) var sources: [any DispatchSourceRead] = []

func open(_ count: Int) {
  for _ in 0..<count {
    connections.append(Connection(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)))
  }
}

func device(_ name: String) -> Int32 { open("/dev/\(name)", O_RDONLY) }

func fillSwitchboard() {
  let board = Switchboard(device("random"))
  (board.clients[device("full")], board.clients[device("full")]) = ("one", "other")
  board.lines.insert(FileDescriptor(rawValue: device("full")))
  board.spare = [device("full")]
  board.last = FileDescriptor(rawValue: device("full"))
  board.line = .open(FileDescriptor(rawValue: device("full")))
  board.fileDescriptor = Int(device("full"))
  for number in 10..<200 { board.weights[Int32(number)] = number }
  switchboard = board
  globalFD = device("full")
  _ = device("urandom")
}

@inline(never) func begin() {
  globalText = text(40_000).dropFirst(3).prefix(3)
  let all = ByteBuffer(count: 1_000_000)
  for number in 0..<10 { frames.append(Frame(all.slice(from: 66_000 + 10 * UInt32(number), count: 10))) }
  let other = ByteBuffer(count: 1_500_000)
  frames.append(Frame(other.slice(from: 5, count: 1), other))
  open(5)
  for number in 0..<3 {
    listeners.append(Listener(fd: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)))
    named["\(number)"] = Listener(fd: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
  }
  fillSwitchboard()
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  let source = DispatchSource.makeReadSource(fileDescriptor: ends[0], queue: .global())
  source.setEventHandler {}
  source.resume()
  sources.append(source)
  kept = [Log(), FileHandle(forReadingAtPath: "/proc/self/exe")!]
  kept.append(DispatchIO(type: .stream, fileDescriptor: open("/dev/null", O_RDONLY), queue: .global()) { _ in })
  for number in 0..<3 {
    let thread = Thread { while true { sleep(1000) } }
    thread.name = "worker-\(number)"
    thread.start()
  }
  Thread.detachNewThread { work() }
  usleep(50_000)
}

begin()
print("ready")
fflush(stdout)
while readLine() != nil {
  open(10)
  print(globalText, globalNumbers, owner.name)
  fflush(stdout)
}
