// Leaks a hundred cycles, whose addresses lie behind blocks that it keeps, keeps a thousand sessions, and lets threads of C wait and
// calculate. Each line of input is answered by how they are. Knows nothing of Undead.
import Glibc

final class Node {
  var next: Node?
  var numbers = [Int](repeating: 1, count: 4)
}

final class Session {
  let name: String
  let buffer = [UInt8](repeating: 0, count: 100)
  init(_ name: String) { self.name = name }
}

final class Store {
  var sessions: [String: Session] = [:]
  var opened = 0

  func open(_ count: Int) {
    for _ in 0..<count {
      opened += 1
      let name = "session number \(opened), with a name that does not fit into a word"
      sessions[name] = Session(name)
    }
  }
}

/// Retained once too often.
final class Forgotten {}

/// Known to the kernel alone, until an event comes.
final class Waiting {}

@_optimize(none) @inline(never) func forget() { _ = Unmanaged.passRetained(Forgotten()) }
@_optimize(none) @inline(never) func wait() { untouched_hold(Unmanaged.passRetained(Waiting()).toOpaque()) }
@_optimize(none) @inline(never) func waitForSignal() { untouched_queue(Unmanaged.passRetained(Waiting()).toOpaque()) }

@inline(never) func leak() -> UInt {
  let first = Node()
  let second = Node()
  first.next = second
  second.next = first
  return UInt(bitPattern: Unmanaged.passUnretained(first).toOpaque())
}

/// Block_private.h of libdispatch: a block with two words of captures.
struct Block {
  var isa = UInt(bitPattern: dlsym(nil, "_NSConcreteStackBlock")), flags = 0, invoke = 0
  var descriptor = UnsafeMutablePointer<UInt>.allocate(capacity: 4)
  var captures = (0, 0)
}
typealias CopyBlock = @convention(c) (UnsafeRawPointer) -> UnsafeMutableRawPointer
/// None where the toolchain's libraries are linked into the program.
let copyBlock = dlopen("libBlocksRuntime.so", RTLD_NOW | RTLD_GLOBAL).map {
  unsafeBitCast(dlsym($0, "_Block_copy"), to: CopyBlock.self)
}
nonisolated(unsafe) var block = Block()
block.descriptor.initialize(repeating: 0, count: 4)
block.descriptor[1] = UInt(MemoryLayout<Block>.size)
nonisolated(unsafe) var blocks: [UnsafeMutableRawPointer] = []
blocks.reserveCapacity(100)

/// Keeps a block in memory of malloc's that is larger, and has the address of a leak behind it.
@inline(never) func leakBehindBlock() {
  let leaked = leak()
  let size = MemoryLayout<Block>.size + 8
  let memory = malloc(size)!
  memory.storeBytes(of: leaked, toByteOffset: size - 8, as: UInt.self)
  free(memory)
  if let copyBlock { blocks.append(copyBlock(&block)) }
}

nonisolated(unsafe) let store = Store()
let start = ContinuousClock.now

/// So many sessions in a second, however seldom a busy machine lets this thread run.
func growByTheClock() {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      while true {
        usleep(10_000)
        store.open(max(0, Int((ContinuousClock.now - start) / .milliseconds(1)) - store.opened))
      }
    }, nil)
}

store.open(1000)
for _ in 0..<100 { leakBehindBlock() }
for _ in 0..<5 { forget() }
for _ in 0..<3 { wait() }
// More than are reported at once.
for _ in 0..<70 { waitForSignal() }
if CommandLine.arguments.contains("busy") { untouched_start() }
print("ready")
fflush(stdout)
while let line = readLine() {
  switch line {
  case "grow": store.open(500)
  case "grow by the clock": growByTheClock()
  case "lose the first thread":
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in while true { usleep(5000) } }, nil)
    print("lost")
    fflush(stdout)
    pthread_exit(nil)
  default: break
  }
  print(String(cString: untouched_answer()))
  fflush(stdout)
}
