// The system: signals, processes, buffers that the kernel fills, libraries that come and go.
import CParts
import Glibc

private final class Message {
  var bytes: [UInt8]
  init(_ count: Int) { bytes = .init(repeating: 5, count: count) }
}

nonisolated(unsafe) private var signals = 0
/// Signals interrupt what allocates; the handler has a stack of its own.
private func signalHandlers(_ round: Int) -> Int {
  let stack = UnsafeMutableRawPointer.allocate(byteCount: 65536, alignment: 16)
  var alternate = stack_t(ss_sp: stack, ss_flags: 0, ss_size: 65536)
  var before = stack_t()
  sigaltstack(&alternate, &before)
  var action = sigaction()
  var old = sigaction()
  action.__sigaction_handler.sa_handler = { _ in signals += 1 }
  action.sa_flags = SA_ONSTACK | SA_RESTART
  sigaction(SIGUSR1, &action, &old)
  signals = 0
  let thread = pthread_self()
  let sender = Thread1 { for _ in 0..<10 { pthread_kill(thread, SIGUSR1) } }
  var sum = 0
  for i in 0..<40 { sum += Message(i * 9 + round).bytes.count }
  sender.join()
  sigaction(SIGUSR1, &old, nil)
  before.ss_flags = Int32(SS_DISABLE)
  sigaltstack(&before, nil)
  stack.deallocate()
  return sum + (signals > 0 ? 1 : 0)
}

private func processes(_ round: Int) -> Int {
  let kept = (0..<10).map { Message($0 + 1) }
  let child = parts_fork()
  if child == 0 {
    let sum = kept.reduce(0) { $0 + $1.bytes.count } + Message(round).bytes.count
    _exit(Int32(sum))
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return Int(status >> 8 & 0xFF) + Int(status & 0x7F) * 1000 + kept.count
}

/// All ways to hand a buffer to the kernel.
private func buffers(_ round: Int) -> Int {
  var ends: [Int32] = [0, 0]
  socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
  var sum = 0
  for size in [1, 64, 500 + round, 4000] {
    let message = Message(size)
    sum += message.bytes.withUnsafeBytes { write(ends[0], $0.baseAddress, size) }
    let into = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
    sum += read(ends[1], into, size) + Int(into.load(fromByteOffset: size - 1, as: UInt8.self))
    sum += send(ends[0], into, size, 0)
    sum += recv(ends[1], into, size, Int32(MSG_WAITALL))
    let vectors = UnsafeMutablePointer<iovec>.allocate(capacity: 2)
    vectors[0] = iovec(iov_base: into, iov_len: size / 2)
    vectors[1] = iovec(iov_base: into + size / 2, iov_len: size - size / 2)
    sum += writev(ends[0], vectors, 2)
    let header = UnsafeMutablePointer<msghdr>.allocate(capacity: 1)
    header.initialize(to: msghdr())
    header.pointee.msg_iov = vectors
    header.pointee.msg_iovlen = 2
    sum += recvmsg(ends[1], header, Int32(MSG_WAITALL))
    header.deallocate()
    vectors.deallocate()
    into.deallocate()
    let polled = UnsafeMutablePointer<pollfd>.allocate(capacity: 1)
    polled.initialize(to: pollfd(fd: ends[0], events: Int16(POLLOUT), revents: 0))
    sum += Int(poll(polled, 1, 0))
    polled.deallocate()
  }
  let message = Message(3)
  let answer = parts_ready(ends[0], Unmanaged.passUnretained(message).toOpaque())!
  sum += Unmanaged<Message>.fromOpaque(answer).takeUnretainedValue().bytes.count
  for file in ends { close(file) }
  return sum
}

private func files(_ round: Int) -> Int {
  let file = tmpfile()!
  let line = "a line of a file, number \(round)\n"
  for _ in 0..<20 { fputs(line, file) }
  rewind(file)
  var buffer: UnsafeMutablePointer<CChar>? = UnsafeMutablePointer<CChar>.allocate(capacity: 4)
  // getline() grows what Swift allocated.
  var room = 4
  var sum = 0
  while case let count = getline(&buffer, &room, file), count > 0 { sum += count }
  free(buffer)
  let map = mmap(nil, 100, PROT_READ, MAP_PRIVATE, fileno(file), 0)!
  sum += Int(map.load(as: UInt8.self))
  munmap(map, 100)
  fclose(file)
  let path = realpath("/usr/../tmp", nil)!
  sum += Int(strlen(path))
  free(path)
  let directory = opendir("/proc/self")!
  var entries = 0
  while readdir(directory) != nil { entries += 1 }
  closedir(directory)
  var found: UnsafeMutablePointer<addrinfo>?
  if getaddrinfo("127.0.0.1", "80", nil, &found) == 0 { freeaddrinfo(found) }
  return sum + (entries > 10 ? 1 : 0)
}

private func environment(_ round: Int) -> Int {
  setenv("CLEAN_NAME", "a value of more than fifteen bytes \(round)", 1)
  let length = strlen(getenv("CLEAN_NAME"))
  unsetenv("CLEAN_NAME")
  let key = UnsafeMutablePointer<pthread_key_t>.allocate(capacity: 1)
  pthread_key_create(key) { Unmanaged<Message>.fromOpaque($0!).release() }
  let raw = key.pointee
  let thread = Thread1 { pthread_setspecific(raw, Unmanaged.passRetained(Message(round)).toOpaque()) }
  thread.join()
  pthread_key_delete(key.pointee)
  key.deallocate()
  return Int(length)
}

private func library(_ round: Int) -> Int {
  guard let path = getenv("CLEAN_PLUGIN") else { return 0 }
  return (0..<3).reduce(0) { $0 + Int(parts_library(path, Int32($1 + round))) }
}

let system: [(name: String, run: (Int) -> Int)] = [
  ("signal-handlers", signalHandlers), ("processes", processes), ("buffers", buffers), ("files", files),
  ("environment", environment), ("library", library), ("faults", { Int(parts_faults(Int32(8 + $0))) }),
]
