// Threads that have ended and that nobody has joined yet: what they return is in their descriptors. And a stack that the
// program gave to a thread and keeps objects in when it has ended.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
let waiting = UnsafeMutablePointer<pthread_t>.allocate(capacity: 50)
@inline(never) func start() {
  for index in 0..<50 {
    pthread_create(waiting + index, nil, { _ in Unmanaged.passRetained(Node()).toOpaque() }, nil)
  }
}
start()
let bytes = 256 * 1024
let stack = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
var attributes = pthread_attr_t()
pthread_attr_init(&attributes)
pthread_attr_setstack(&attributes, stack, bytes)
var thread = pthread_t()
pthread_create(&thread, &attributes, { _ in nil }, nil)
pthread_join(thread, nil)
@inline(never) func fill() {
  for index in 0..<500 {
    stack.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: index * 64, as: Unmanaged<Node>.self)
  }
}
fill()
usleep(200_000)
if CommandLine.arguments.count > 1 {
  for index in 0..<50 { pthread_join(waiting[index], nil) }
}
print("ended")
