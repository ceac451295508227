// Two hundred threads, half of them parked for ever, with small stacks.
// EXPECT silent
// HEADER ../Support/waiting.h
import Glibc

final class Node {
  var text = "text"
}
var attributes = pthread_attr_t()
pthread_attr_init(&attributes)
pthread_attr_setstacksize(&attributes, 64 << 10)
var threads: [pthread_t] = []
for _ in 0..<100 {
  var thread = pthread_t()
  pthread_create(
    &thread, &attributes,
    { _ in
      let node = Node()
      arrive()
      withExtendedLifetime(node) { _ = sleep(1000) }
      return nil
    }, nil)
}
for _ in 0..<100 {
  var thread = pthread_t()
  pthread_create(
    &thread, &attributes,
    { _ in
      var nodes: [Node] = []
      for _ in 0..<1000 { nodes.append(Node()) }
      return nodes.count == 1000 ? nil : UnsafeMutableRawPointer(bitPattern: 1)
    }, nil)
  threads.append(thread)
}
var failures = 0
for thread in threads {
  var result: UnsafeMutableRawPointer?
  pthread_join(thread, &result)
  if result != nil { failures += 1 }
}
wait_until_waiting(100)
print("failures", failures)
