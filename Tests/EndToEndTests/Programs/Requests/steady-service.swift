// A service with a leak that works until it is asked to stop; it counts what a signal or a stop could disturb.
// EXPECT leak kind=retainCycle types=App.Node fields=next
import Foundation

final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}

let directory = CommandLine.arguments[1]
nonisolated(unsafe) var isStopped = false
nonisolated(unsafe) var interruptions = 0
// A signal that is blocked and waits, as where a signalfd is used, does not end the calls below.
var blocked = sigset_t()
sigemptyset(&blocked)
sigaddset(&blocked, SIGUSR2)
sigaddset(&blocked, 63)
pthread_sigmask(SIG_BLOCK, &blocked, nil)
kill(getpid(), SIGUSR2)

let threads = (0..<3).map { _ in
  let thread = Thread {
    var list: [String: [UInt8]] = [:]
    var number = 0
    while !isStopped {
      number += 1
      list["key \(number % 300)"] = [UInt8](repeating: 1, count: number % 500)
      if usleep(100) != 0 { interruptions += 1 }
    }
  }
  thread.start()
  return thread
}

/// Waits again and again, each time for a tenth of a second, in a call that the kernel does not start again after a stop.
func wait(_ call: @escaping @Sendable () -> Int) -> Thread {
  let thread = Thread {
    while !isStopped {
      if call() < 0 && errno == EINTR { interruptions += 1 }
    }
  }
  thread.start()
  return thread
}
let tenth = timespec(tv_sec: 0, tv_nsec: 100_000_000)
@_silgen_name("epoll_create1") func makePoller(_ flags: Int32) -> Int32
@_silgen_name("epoll_wait")
func poll(_ poller: Int32, _ events: UnsafeMutableRawPointer, _ count: Int32, _ time: Int32) -> Int32
let poller = makePoller(0)
var pair: [Int32] = [0, 0]
socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
let socket = pair[0]
var timeout = timeval(tv_sec: 0, tv_usec: 100_000)
setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout.size(ofValue: timeout)))
let waiting = [
  wait {
    var event: (UInt64, UInt64) = (0, 0)
    return Int(poll(poller, &event, 1, 100))
  },
  wait {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, 63)
    var time = tenth
    return Int(sigtimedwait(&set, nil, &time))
  },
  wait {
    var byte: UInt8 = 0
    return recv(socket, &byte, 1, 0)
  },
]
for _ in 0..<5 { make() }
FileManager.default.createFile(atPath: directory + "/ready", contents: nil)
while access(directory + "/stop", F_OK) != 0 { poll(nil, 0, 5) }
isStopped = true
for _ in 0..<2 { make() }
while (threads + waiting).contains(where: { !$0.isFinished }) { usleep(1000) }
print("interruptions", interruptions)
