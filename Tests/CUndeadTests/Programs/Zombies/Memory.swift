// Uses of storage and of raw memory.
import Foundation
import Synchronization

func useMemory(_ way: String) -> Bool {
  switch way {
  case "raw", "freed-twice":
    let memory = numbers()
    memory.deallocate()
    if way == "raw" { print(memory[3]) } else { memory.deallocate() }
  case "large-blocks":
    for bytes in [4_096, 65_536, 1 << 20] {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 8)
      memory.storeBytes(of: bytes, toByteOffset: bytes / 2, as: Int.self)
      memory.deallocate()
      print(memory.load(fromByteOffset: bytes / 2, as: Int.self))
    }
  case "large-overflow":
    let memory = UnsafeMutablePointer<Int>.allocate(capacity: 10_000)
    memory[10_001] = 1
    memory.deallocate()
  case "large-array":
    var array = Array(0..<10_000)
    array.append(4)
    let pointer = array.withUnsafeBufferPointer { $0.baseAddress! }
    array = []
    print(pointer[9_000])
  case "large-dictionary":
    var dictionary: [Int: Int]? = Dictionary(uniqueKeysWithValues: (0..<2_000).map { ($0, $0) })
    let storage = Unmanaged.passUnretained(unsafeBitCast(dictionary!, to: AnyObject.self))
    dictionary = nil
    _ = storage.retain()
  case "large-reused":
    // Each lies where an earlier one of another size lay, and is new.
    for round in 0..<200 {
      let count = 600 + round * 37 % 8_000
      let memory = UnsafeMutablePointer<Int>.allocate(capacity: count)
      memory.initialize(repeating: round, count: count)
      let larger = realloc(memory, count * 16)!.assumingMemoryBound(to: Int.self)
      larger[count * 2 - 1] = 1
      precondition(larger[0] == round && larger[count - 1] == round)
      free(larger)
    }
    print(7)
  case "resized":
    for count in 1...40 {
      let memory = UnsafeMutablePointer<Int>.allocate(capacity: count)
      memory.initialize(repeating: 7, count: count)
      let larger = realloc(memory, 1000)!.assumingMemoryBound(to: Int.self)
      if !(0..<count).allSatisfy({ larger[$0] == 7 }) { print("lost of \(count)") }
      free(larger)
    }
    print(7)
  case "aligned":
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 64)
    precondition(UInt(bitPattern: memory) % 64 == 0)
    memory.deallocate()
    print(memory.load(fromByteOffset: 8, as: Int.self))
  case "before":
    let memory = numbers()
    memory.deallocate()
    print(memory[-1])
  case "in-front":
    let page = UnsafeMutablePointer<UInt8>.allocate(capacity: 8_192)
    page[0] = 1
    page[-1] = 2
    page[-2] = 3
    page.deallocate()
  case "pages":
    // Who asks for the size of a block reads in front of it.
    for round in 1...20 {
      let page = UnsafeMutablePointer<UInt8>.allocate(capacity: 4_096 * round)
      page.initialize(repeating: 7, count: 4_096 * round)
      let usable = usableSize(page)
      if round % 2 == 0 { page.deallocate() } else { precondition(realloc(page, 90_000)!.load(as: UInt8.self) == 7) }
      precondition(usable >= 4_096 * round)
    }
    print(7)
  case "error":
    let error = refused()
    error.release()
    print(7)  // or the optimiser makes one release of two
    error.release()
  case "calls": useInCalls()
  case "masked-handler":
    stale = numbers()
    stale.deallocate()
    var action = sigaction()
    sigfillset(&action.sa_mask)
    action.__sigaction_handler.sa_handler = { _ in stale[3] += 1 }
    sigaction(SIGUSR1, &action, nil)
    raise(SIGUSR1)
  case "overflow":
    let memory = numbers()
    memory[10] = 1
    print(memory[10])
    memory.deallocate()
  case "data":
    var data: Data? = Data(repeating: 7, count: 100)
    let bytes = data!.withUnsafeBytes { $0.baseAddress! }
    data = nil
    print(bytes.load(fromByteOffset: 50, as: UInt8.self))
  case "retained-storage":
    var array: [Int]? = [1, 2, 3]
    array!.append(4)
    let storage = Unmanaged.passUnretained(unsafeBitCast(array!, to: AnyObject.self))
    array = nil
    _ = storage.retain()
  case "array-storage":
    var array = [1, 2, 3]
    array.append(4)
    let pointer = array.withUnsafeBufferPointer { $0.baseAddress! }
    array = []
    print(pointer[2])
  default: return false
  }
  return true
}

@_silgen_name("malloc_usable_size") func usableSize(_ block: UnsafeMutableRawPointer?) -> Int

struct Refused: Error { var reason = "a reason that is longer than fifteen bytes" }
@inline(never) @_optimize(none) func refused() -> Unmanaged<AnyObject> {
  let error: any Error = Refused()
  return .passRetained(unsafeBitCast(error, to: AnyObject.self))
}

nonisolated(unsafe) var stale = numbers()
nonisolated(unsafe) var waiting: Int32 = 0
let isWaiting = Atomic(false)

/// A list of `msghdr` with a length behind each: glibc's header shows it to C with GNU's extensions only.
@_silgen_name("sendmmsg")
func sendMessages(_ socket: Int32, _ messages: UnsafeMutableRawPointer?, _ count: UInt32, _ flags: Int32) -> Int32

/// Calls of the system with memory that was freed, which do what they would have done.
func useInCalls() {
  var ends: [Int32] = [0, 0]
  socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
  func freed() -> UnsafeMutableRawPointer {
    let memory = numbers()
    memory.deallocate()
    return UnsafeMutableRawPointer(memory) + 16
  }
  var counts = [write(ends[0], freed(), 8), read(ends[1], freed(), 8)]
  counts += [send(ends[0], freed(), 8, 0), recv(ends[1], freed(), 8, 0)]
  var word = 0
  var buffer = iovec(iov_base: freed(), iov_len: 8)
  counts += [writev(ends[0], &buffer, 1)]
  buffer.iov_base = freed()
  counts += [readv(ends[1], &buffer, 1)]
  buffer.iov_base = freed()
  counts += [pwritev(ends[0], &buffer, 1, 0)]  // a socket has no places: refused, but the memory was named
  counts += [
    withUnsafeMutablePointer(to: &buffer) { buffer in
      buffer.pointee.iov_base = freed()
      var message = (msghdr(), length: 0)
      message.0.msg_iov = buffer
      message.0.msg_iovlen = 1
      return Int(sendMessages(ends[0], &message, 1, 0)) + read(ends[1], &word, 8)
    }
  ]
  // What lies in the pool, and what lies elsewhere.
  let memory = numbers()
  counts += [write(ends[0], memory, 16), read(ends[1], &word, 8), read(ends[1], memory, 8), read(ends[1], nil, 0)]
  memory.deallocate()
  // What is no list of buffers is for the kernel to refuse.
  counts += [writev(ends[0], UnsafePointer(bitPattern: 8), 2)]
  counts += [recvmsg(ends[1], UnsafeMutablePointer(bitPattern: 8), 0)]
  counts += [
    sendmsg(ends[0], UnsafePointer(bitPattern: 8), 0),
    Int(sendMessages(ends[0], UnsafeMutableRawPointer(bitPattern: 8), 1, 0)),
  ]
  // The block dies while the call waits for something to read.
  stale = numbers()
  waiting = ends[1]
  let reader = onThread { _ in
    isWaiting.store(true, ordering: .releasing)
    return UnsafeMutableRawPointer(bitPattern: read(waiting, stale + 2, 8))
  }
  while !isWaiting.load(ordering: .acquiring) {}
  stale.deallocate()
  counts += [write(ends[0], &word, 8)]
  var result: UnsafeMutableRawPointer?
  pthread_join(reader, &result)
  // The list itself is freed.
  let list = UnsafeMutablePointer<iovec>.allocate(capacity: 2)
  list.initialize(repeating: iovec(iov_base: &waiting, iov_len: 4), count: 2)
  list.deallocate()
  counts.append(writev(ends[0], list, 2))
  print(counts + [Int(bitPattern: result)])
}
