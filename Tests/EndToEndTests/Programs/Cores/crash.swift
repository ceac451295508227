// Ends, or waits, with a heap whose every object is known: core files are made of it.
// EXPECT silent
import Dispatch
import Foundation

final class Order {
  let number: Int
  let lines: [Int]
  init(_ number: Int) {
    self.number = number
    lines = [Int](repeating: number, count: 50)
  }
}

final class Parent {
  var child: Child?
}

final class Child {
  var parent: Parent?
  let name = "a name that is too long to be inline"
}

final class Shop {
  var orders: [Int: Order] = [:]
}

let shop = Shop()
for number in 0..<500 { shop.orders[number] = Order(number) }

@inline(never) func leak() {
  let parent = Parent()
  let child = Child()
  parent.child = child
  child.parent = parent
  use(parent)
}

/// The optimiser would make no objects at all.
@inline(never) func use(_ object: AnyObject) {
  if CommandLine.arguments.count > 9 { print(object) }
}

/// Only a thread that stands still has it.
@inline(never) func hold(_ order: Order, _ ready: DispatchSemaphore) {
  ready.signal()
  while CommandLine.arguments.count < 9 { sleep(1000) }
  use(order)
}

// Garbage that only stale words of a thread name would not be reported. So it is made on one that has ended: a thread of Foundation
// still has code to run when it says that it is finished, and the loader's frames there keep what lay on its stack before.
var maker = pthread_t()
pthread_create(
  &maker, nil,
  { _ in
    for _ in 0..<30 { leak() }
    return nil
  }, nil)
pthread_join(maker, nil)
let ready = DispatchSemaphore(value: 0)
for number in 0..<3 {
  let holder = Thread { hold(Order(1000 + number), ready) }
  holder.start()
  ready.wait()
}

/// Functions that the optimiser knows nothing of.
typealias Allocate = @convention(c) (Int) -> UnsafeMutableRawPointer
typealias Release = @convention(c) (UnsafeMutableRawPointer) -> Void
let allocate = unsafeBitCast(dlsym(nil, "malloc"), to: Allocate.self)
let release = unsafeBitCast(dlsym(nil, "free"), to: Release.self)

/// Has the caller end so many instructions behind the start of malloc, by a child that steps through it.
func endInsideMalloc(after instructions: Int) -> Never {
  typealias Call = @convention(c) (Int, Int, Int, Int) -> Int
  let ptrace = unsafeBitCast(dlsym(nil, "ptrace"), to: Call.self)
  let prctl = unsafeBitCast(dlsym(nil, "prctl"), to: Call.self)
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  let start = Int(bitPattern: dlsym(nil, "malloc"))
  let parent = getpid()
  func trace(_ request: Int, _ address: Int = 0, _ data: Int = 0) -> Bool {
    ptrace(request, Int(parent), address, data) == 0
  }
  // PR_SET_PTRACER, PR_SET_PTRACER_ANY
  _ = prctl(0x5961_6d61, -1, 0, 0)
  if fork() == 0 {
    // PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_SINGLESTEP, PTRACE_PEEKUSER, PTRACE_DETACH; rip is the 17th register.
    var status: Int32 = 0
    guard trace(0x4206), trace(0x4207) else { _exit(kill(parent, SIGKILL)) }
    waitpid(parent, &status, 0)
    var left = -1
    while left != 0, trace(9) {
      waitpid(parent, &status, 0)
      let place = ptrace(3, Int(parent), 16 * 8, 0)
      if left > 0 { left -= 1 }
      if left < 0, place == start { left = instructions }
    }
    _exit(trace(17, 0, Int(SIGABRT)) ? 0 : 1)
  }
  // Larger than what threads keep for themselves.
  var size = 2000
  while true {
    release(allocate(size))
    size = size < 9000 ? size + 1000 : 2000
  }
}

switch CommandLine.arguments.dropFirst().first {
case "trap":
  let none: Int? = nil
  print(none!)
case "fault": UnsafeMutablePointer<Int>(bitPattern: 16)!.pointee = shop.orders.count
case "abort": abort()
case "overflow":
  @inline(never) func deep(_ number: Int) -> Int {
    number == -1 ? 0 : deep(number + 1) + (shop.orders[number]?.number ?? 1)
  }
  print(deep(0))
case "inside": endInsideMalloc(after: CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : 60)
case "numbers":
  // Below the stack pointer, as a deep recursion may leave there: what looks like blocks with mappings of their own.
  let mapped = allocate(1 << 20)
  var here = 0
  withUnsafeMutablePointer(to: &here) { here in
    let page = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: here) & ~4095)! - (128 << 10)
    for number in 0..<16 {
      (page + number * 4096).storeBytes(of: 0, as: Int.self)
      (page + number * 4096 + 8).storeBytes(of: 4096 | 2, as: Int.self)
    }
  }
  mapped.storeBytes(of: 1, as: Int.self)
  abort()
case "lock":
  // As if a thread were at work in the main arena. Free memory of an arena names its lists, 96 bytes behind its lock.
  let block = allocate(5000)
  let fence = allocate(5000)
  release(block)
  (block.load(as: UnsafeMutableRawPointer.self) - 96).storeBytes(of: 1, as: Int32.self)
  fence.storeBytes(of: 1, as: Int.self)
  abort()
case "allocator":
  // The C library finds what a program wrote behind its memory.
  let last = allocate(5000)
  // The size of what comes next.
  (last + 5000).storeBytes(of: 1 << 60, as: Int.self)
  for _ in 1..<1000 { allocate(5000).storeBytes(of: 1, as: Int.self) }
default:
  print("ready")
  fflush(stdout)
  while true { sleep(1000) }
}
