// What a system may refuse.
import Foundation

/// What a system may refuse, while objects are made, die and are used.
func endure(_ way: String) -> Bool {
  let memory = numbers()
  let stale = dead { Point() }
  switch way {
  case "no-mprotect": denyMprotect()
  case "no-memory":
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(9), &none)  // RLIMIT_AS
  case "small-stack": useSmallStack()
  case "few-mappings": takeMappings(but: 200)
  case "small-data":
    var small = rlimit(rlim_cur: 100 << 20, rlim_max: 100 << 20)
    setrlimit(__rlimit_resource_t(2), &small)  // RLIMIT_DATA
    for count in 0..<10_000 { keep(Array(repeating: count, count: count)) }
  case "write-barrier": protectOwnMemory()
  case "signals-blocked": blockAllAndBegin("read")
  case "thousands":
    for _ in 0..<20 {
      let threads = (0..<100).map { _ in
        onThread { _ in
          churn(20)
          return nil
        }
      }
      for thread in threads { pthread_join(thread, nil) }
    }
  default: return false
  }
  memory.deallocate()
  for round in 0..<100 {
    let fresh = numbers()
    fresh[9] = round
    precondition(fresh[9] + fresh[0] == round + 7)
    fresh.deallocate()
  }
  print(ask(stale) { $0.y }, memory[9])
  return true
}

/// As a filter of a container may: EPERM.
func denyMprotect() {
  let prctl = library("prctl", as: (@convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32).self)
  // Load the number; is it 10? Then an error, else let it pass.
  let program: [UInt64] = [
    0x20, 0x15 | 1 << 24 | 10 << 32, 0x06 | 0x0005_0001 << 32, 0x06 | 0x7FFF_0000 << 32,
  ]
  program.withUnsafeBufferPointer { code in
    withUnsafeTemporaryAllocation(of: UInt.self, capacity: 2) { filter in
      filter[0] = UInt(code.count)
      filter[1] = UInt(bitPattern: code.baseAddress)
      precondition(prctl(38, 1, 0, 0, 0) == 0)  // PR_SET_NO_NEW_PRIVS
      precondition(prctl(22, 2, UInt(bitPattern: filter.baseAddress), 0, 0) == 0)  // PR_SET_SECCOMP
    }
  }
}

/// As many as the system allows, with few left; then objects are made that stay.
func takeMappings(but left: Int) {
  var last: [UnsafeMutableRawPointer] = []
  for index in 0... {
    let access = index % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE
    guard let mapping = mmap(nil, 8192, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), mapping != MAP_FAILED else {
      break
    }
    last.append(mapping)
    if last.count > left { last.removeFirst() }
  }
  for mapping in last { munmap(mapping, 8192) }
  let objects = (0..<100_000).map { _ in Point() }
  for count in 0..<10_000 { keep(Array(repeating: count, count: count % 2_000)) }
  keep(objects)
}

/// Memory that the program closes itself, and opens in a handler.
func protectOwnMemory() {
  barrier = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 4096)
  var action = sigaction()
  action.__sigaction_handler.sa_handler = { _ in _ = mprotect(barrier, 4096, PROT_READ | PROT_WRITE) }
  sigaction(SIGSEGV, &action, nil)
  mprotect(barrier, 4096, PROT_READ)
  barrier.storeBytes(of: 9, as: Int.self)
  mprotect(barrier, 4096, PROT_NONE)
  precondition(barrier.load(as: Int.self) == 9)
  barrier.deallocate()
}
nonisolated(unsafe) var barrier: UnsafeMutableRawPointer! = nil

/// Signals come to a stack as small as programs have it, with nothing below.
func useSmallStack() {
  let page = 4096
  let room = mmap(nil, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
  mprotect(room + page, 2 * page, PROT_READ | PROT_WRITE)
  var stack = stack_t(ss_sp: room + page, ss_flags: 0, ss_size: 2 * page)
  precondition(sigaltstack(&stack, nil) == 0)
}
