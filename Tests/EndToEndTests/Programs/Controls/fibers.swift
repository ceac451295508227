// Objects that only suspended frames hold: of fibers on stacks from malloc, mmap and a local variable, of threads that run
// a fiber, of code that a signal interrupted whose handler runs on a stack in a local variable.
// EXPECT silent
// HEADER ../Support/waiting.h
import Glibc

final class Node {
  var number = 1
}
@_silgen_name("getcontext") func getContext(_ context: UnsafeMutableRawPointer) -> Int32
@_silgen_name("makecontext") func makeContext(
  _ context: UnsafeMutableRawPointer, _ function: @convention(c) () -> Void, _ count: Int32)
@_silgen_name("swapcontext") func swapContext(_ from: UnsafeMutableRawPointer, _ to: UnsafeMutableRawPointer) -> Int32

let ready = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
let never = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
sem_init(ready, 0, 0)
sem_init(never, 0, 0)

// Calls `body` while a frame of this function holds objects that nothing else does.
@inline(never) func holding(_ body: () -> Void) {
  withUnsafeTemporaryAllocation(of: Unmanaged<Node>.self, capacity: 16) { nodes in
    for index in 0..<16 { nodes.initializeElement(at: index, to: .passRetained(Node())) }
    body()
    for node in nodes { node.release() }
  }
}
// As far as the compiler knows this returns, so that what the callers hold is needed.
@inline(never) func wait() {
  sem_post(ready)
  while sem_trywait(never) != 0 { sleep(1000) }
}

// Places for two contexts: of a fiber and of who runs it.
let places = UnsafeMutableRawPointer.allocate(byteCount: 64 * 1024, alignment: 64)
@inline(never) func run(
  _ index: Int, _ stack: UnsafeMutableRawPointer, _ bytes: Int, _ function: @convention(c) () -> Void
) {
  let fiber = places + index * 4096
  _ = getContext(fiber)
  fiber.storeBytes(of: nil, toByteOffset: 8, as: UnsafeMutableRawPointer?.self)
  fiber.storeBytes(of: stack, toByteOffset: 16, as: UnsafeMutableRawPointer.self)
  fiber.storeBytes(of: bytes, toByteOffset: 32, as: Int.self)
  makeContext(fiber, function, 0)
  _ = swapContext(fiber + 2048, fiber)
}
@inline(never) func leave(_ index: Int) {
  _ = swapContext(places + index * 4096, places + index * 4096 + 2048)
}
let bytes = 64 * 1024
@inline(never) func map() -> UnsafeMutableRawPointer {
  mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
}
typealias Room = InlineArray<4096, UInt64>
@inline(never) func withRoom(_ body: (UnsafeMutableRawPointer) -> Void) {
  var room = Room(repeating: 0)
  withUnsafeMutableBytes(of: &room) { body($0.baseAddress!) }
}

let works: [@convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?] = [
  { _ in
    let stack = malloc(bytes)!
    holding { run(0, stack, bytes) { holding(wait) } }
    return nil
  },
  { _ in
    holding { run(1, map(), bytes) { holding(wait) } }
    return nil
  },
  { _ in
    run(2, map(), bytes) { holding { leave(2) } }
    run(3, malloc(bytes)!, bytes) { holding { leave(3) } }
    wait()
    return nil
  },
  { _ in
    withRoom { room in holding { run(4, room, 32 * 1024) { holding(wait) } } }
    return nil
  },
  { _ in
    withRoom { room in
      var stack = stack_t(ss_sp: room, ss_flags: 0, ss_size: 32 * 1024)
      sigaltstack(&stack, nil)
      holding { pthread_kill(pthread_self(), SIGURG) }
    }
    return nil
  },
]
var action = sigaction()
action.__sigaction_handler.sa_handler = { _ in holding(wait) }
action.sa_flags = SA_ONSTACK
sigaction(SIGURG, &action, nil)
for work in works {
  var thread = pthread_t()
  pthread_create(&thread, nil, work, nil)
}
for _ in works { sem_wait(ready) }
wait_until_others_sleep()
print("held")
