// Coroutines on stacks of their own allocate and hold objects while they are switched out.
// EXPECT silent
// HEADER ../Support/waiting.h
import Foundation

final class Node {
  var text = "held by a thread that is suspended in a coroutine"
}
let stackSize = 256 << 10
var attributes = pthread_attr_t()
pthread_attr_init(&attributes)
let stack = mmap(nil, stackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
pthread_attr_setstack(&attributes, stack, stackSize)
let ready = DispatchSemaphore(value: 0)
var thread = pthread_t()
pthread_create(
  &thread, &attributes,
  { _ in
    let node = Node()
    let nodes = [Node(), Node()]
    ready.signal()
    withExtendedLifetime((node, nodes)) { _ = sleep(1000) }
    return nil
  }, nil)
ready.wait()
wait_until_others_sleep()
print("own stack")
