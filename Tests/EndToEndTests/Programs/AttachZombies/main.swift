// A server that knows neither the tool nor its bug: on request it uses a session after its end.
import Glibc

final class Session {
  let user = 7
  var requests = 41
}

/// What is in memory while the sample begins and ends.
final class Node {
  let next: Node?
  let name: [Int]
  init(_ next: Node?) {
    self.next = next
    name = [1, 2, 3]
  }
}

@inline(never) @_optimize(none) func end(_ session: inout Session?) { session = nil }

@inline(never) @_optimize(none) func useAfterEnd() -> Int {
  var session: Session? = Session()
  let stale = Unmanaged.passUnretained(session!).toOpaque()
  // What a read of free memory finds is not of interest here, but it must not change.
  let requests = stale.advanced(by: 24).assumingMemoryBound(to: Int.self)
  end(&session)
  return requests.pointee
}

/// The kernel reads what is dead.
func useInCall() -> Int {
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  var session: Session? = Session()
  let stale = Unmanaged.passUnretained(session!).toOpaque()
  end(&session)
  return write(ends[1], stale.advanced(by: 24), 8)
}

/// The same with a list of buffers.
func useInMessage() -> Int {
  var ends: [Int32] = [0, 0]
  socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
  var session: Session? = Session()
  var buffer = iovec(iov_base: Unmanaged.passUnretained(session!).toOpaque().advanced(by: 24), iov_len: 8)
  end(&session)
  return withUnsafeMutablePointer(to: &buffer) { buffer in
    var message = msghdr()
    message.msg_iov = buffer
    message.msg_iovlen = 1
    return sendmsg(ends[1], &message, 0)
  }
}

nonisolated(unsafe) var escaped: Escaping?
/// Its deinit lets it out, for which the runtime ends the program.
final class Escaping {
  let number = 5
  deinit { keep(self) }
}
@inline(never) @_optimize(none) func keep(_ object: Escaping) { escaped = object }

@inline(never) @_optimize(none) func makeEscaping() -> Escaping { Escaping() }

/// The program waits at its end for one line.
@inline(never) @_optimize(none) func escape() {
  signal(SIGABRT) { _ in
    var byte: UInt8 = 0
    _ = write(1, "done\n", 5)
    while read(0, &byte, 1) == 1, byte != 10 {}
    _exit(45)
  }
  _ = makeEscaping()
}

typealias Fork = @convention(c) () -> pid_t
nonisolated(unsafe) let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)

func inChild() -> String {
  let child = fork()
  if child == 0 {
    for _ in 0..<1000 { _ = useAfterEnd() }
    chain = nil
    _exit(9)
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return "child \(status >> 8 & 0xFF) \(status & 0x7F)"
}

func ownFault() -> String {
  let child = fork()
  if child == 0 {
    UnsafeMutablePointer<Int>(bitPattern: 8)!.pointee = 1
    _exit(0)
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return "fault \(status >> 8 & 0xFF) \(status & 0x7F)"
}

typealias Prctl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32

/// A filter that answers mprotect with EPERM comes between the end of a session and its use.
func useWithoutMprotect() -> Int {
  let prctl = unsafeBitCast(dlsym(nil, "prctl"), to: Prctl.self)
  // Load the number; is it 10? Then an error, else let it pass.
  let program: [UInt64] = [
    0x20, 0x15 | 1 << 24 | 10 << 32, 0x06 | 0x0005_0001 << 32, 0x06 | 0x7FFF_0000 << 32,
  ]
  var session: Session? = Session()
  let requests = Unmanaged.passUnretained(session!).toOpaque().advanced(by: 24).assumingMemoryBound(to: Int.self)
  end(&session)
  program.withUnsafeBufferPointer { code in
    withUnsafeTemporaryAllocation(of: UInt.self, capacity: 2) { filter in
      filter[0] = UInt(code.count)
      filter[1] = UInt(bitPattern: code.baseAddress)
      precondition(prctl(38, 1, 0, 0, 0) == 0)  // PR_SET_NO_NEW_PRIVS
      precondition(prctl(22, 2, UInt(bitPattern: filter.baseAddress), 0, 0) == 0)  // PR_SET_SECCOMP
    }
  }
  return requests.pointee
}

nonisolated(unsafe) var hasBlocked = sem_t()

func blockSignals() {
  var thread = pthread_t()
  sem_init(&hasBlocked, 0, 0)
  pthread_create(
    &thread, nil,
    { _ in
      var all = sigset_t()
      sigfillset(&all)
      pthread_sigmask(SIG_BLOCK, &all, nil)
      sem_post(&hasBlocked)
      while true { pause() }
    }, nil)
  sem_wait(&hasBlocked)
}

nonisolated(unsafe) var chain: Node?
setvbuf(stdout, nil, _IOLBF, 0)
print("ready")
while let line = readLine() {
  let words = line.split(separator: " ")
  switch words.first {
  case "keep": for _ in 0..<(Int(words[1]) ?? 0) { chain = Node(chain) }
  case "drop": chain = nil
  case "bug": for _ in 0..<(Int(words[1]) ?? 0) { _ = useAfterEnd() }
  case "handler": signal(SIGSEGV) { _ in _exit(43) }
  case "fault":
    print(ownFault())
    continue
  case "call":
    print(useInCall())
    continue
  case "message":
    print(useInMessage())
    continue
  case "escape": escape()
  case "fork":
    print(inChild())
    continue
  case "block": blockSignals()
  case "deny":
    print(useWithoutMprotect())
    continue
  default: break
  }
  print("done")
}
var sum = 0
var node = chain
while let one = node {
  sum += one.name[2]
  node = one.next
}
print("end \(sum)")
