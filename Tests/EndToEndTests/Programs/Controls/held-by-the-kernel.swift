// Objects that only the kernel knows.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
@_silgen_name("epoll_create1") func createPoll(_ flags: Int32) -> Int32
@_silgen_name("epoll_ctl") func control(
  _ poll: Int32, _ operation: Int32, _ file: Int32, _ event: UnsafeMutableRawPointer
) -> Int32
@_silgen_name("eventfd") func makeEvent(_ value: UInt32, _ flags: Int32) -> Int32
@_silgen_name("pthread_sigqueue") func queueSignal(_ thread: pthread_t, _ signal: Int32, _ value: sigval) -> Int32

let poll = createPoll(0)
// A packed record (epoll_event): events, then the data.
let event = UnsafeMutableRawPointer.allocate(byteCount: 12, alignment: 8)
@inline(never) func register(_ file: Int32) -> Bool {
  event.storeBytes(of: 1, as: UInt32.self)
  event.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: 4, as: Unmanaged<Node>.self)
  defer { event.storeBytes(of: 0, toByteOffset: 4, as: UInt64.self) }
  return control(poll, 1, file, event) == 0
}

// As the data of epoll registrations, and the values of timers.
// CASE held-by-the-kernel
// ARGS kernel
@inline(never) func schedule() {
  for _ in 0..<50 {
    var timer: timer_t?
    var event = sigevent()
    event.sigev_notify = 0  // SIGEV_SIGNAL
    event.sigev_signo = SIGURG
    event.sigev_value.sival_ptr = Unmanaged.passRetained(Node()).toOpaque()
    timer_create(CLOCK_MONOTONIC, &event, &timer)
  }
}

// By an epoll of a process that has no descriptor left: looking for them takes some.
// CASE held-by-epoll-at-the-limit
// ARGS limit
@inline(never) func registerAll() -> Int {
  var limit = rlimit(rlim_cur: 200, rlim_max: 200)
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  var ends: [Int32] = [0, 0]
  var count = 0
  while pipe(&ends) == 0 { count += register(ends[0]) ? 1 : 0 }
  while dup(0) >= 0 {}
  return count
}

// By a signal that waits to be delivered. Only a tracer can see them.
// CASE held-by-signals
// ARGS signals
// EXPECT note more than 512 waiting signals
// SHELL UNDEAD_STOP=ptrace $RUN && UNDEAD_STOP=ptrace exec $RUN many
@inline(never) func queue(_ count: Int) {
  let signal = __libc_current_sigrtmin()
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, signal)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
  for index in 0..<count {
    let value = sigval(sival_ptr: Unmanaged.passRetained(Node()).toOpaque())
    if index < count / 2 { sigqueue(getpid(), signal, value) } else { _ = queueSignal(pthread_self(), signal, value) }
  }
}

// By bytes that nobody has read yet: in pipes and local sockets, among other bytes.
// CASE held-by-unread-bytes
// ARGS unread
@inline(never) func send(to files: [Int32], recordOf size: Int) {
  let record = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
  record.initializeMemory(as: UInt8.self, repeating: 7, count: size)
  for file in files {
    record.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: size - 8, as: Unmanaged<Node>.self)
    write(file, record, size)
  }
  record.initializeMemory(as: UInt8.self, repeating: 0, count: size)
  record.deallocate()
}
func isFiltered() -> Bool {
  let file = fopen("/proc/self/status", "r")!
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 4096)
  while fgets(&line, 4096, file) != nil {
    if strncmp(line, "Seccomp:", 8) == 0 { return strstr(line, "0") == nil }
  }
  return false
}
@inline(never) func sendPairs(_ type: __socket_type, _ count: Int) {
  var ends: [Int32] = [0, 0]
  socketpair(AF_UNIX, Int32(type.rawValue), 0, &ends)
  send(to: Array(repeating: ends[0], count: count), recordOf: 8)
}
@inline(never) func sendAll() {
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  // Not all of it is there any more.
  write(ends[1], "t", 1)
  send(to: Array(repeating: ends[1], count: 500), recordOf: 20)
  var taken = 0
  read(ends[0], &taken, 8)
  let name = "/tmp/held-by-unread-bytes-\(getpid())"
  mkfifo(name, 0o600)
  send(to: [open(name, O_RDWR)], recordOf: 8)
  unlink(name)
  sendPairs(SOCK_STREAM, 100)
}

// By datagrams, which are not looked at.
// CASE held-by-datagrams
// ARGS datagrams
// EXPECT note waiting datagrams
@inline(never) func sendDatagrams() {
  sendPairs(SOCK_DGRAM, 3)
  sendPairs(SOCK_SEQPACKET, 3)
}

switch CommandLine.arguments[1] {
// Under a filter of system calls nobody looks.
case "unread":
  if !isFiltered() { sendAll() }
  print("sent")
case "datagrams":
  sendDatagrams()
  print("sent")
case "limit":
  let count = registerAll()
  print(count > 90 ? "registered" : "only \(count)")
case "signals":
  // More than a tracer asks for.
  queue(CommandLine.arguments.contains("many") ? 3000 : 100)
  print("queued")
default:
  for _ in 0..<200 { _ = register(makeEvent(0, 0)) }
  schedule()
  print("registered")
}
exit(0)
