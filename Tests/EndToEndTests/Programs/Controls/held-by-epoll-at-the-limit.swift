// Objects that only an epoll knows, in a process that has no descriptor left: looking for them takes some.
// EXPECT silent
import Foundation

final class Node {
  var number = 1
}
@_silgen_name("epoll_create1") func createPoll(_ flags: Int32) -> Int32
@_silgen_name("epoll_ctl") func control(
  _ poll: Int32, _ operation: Int32, _ file: Int32, _ event: UnsafeMutableRawPointer
) -> Int32

var limit = rlimit(rlim_cur: 200, rlim_max: 200)
setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
let poll = createPoll(0)
let event = UnsafeMutableRawPointer.allocate(byteCount: 12, alignment: 8)  // struct epoll_event: 32 and 64 bits, packed
var ends: [Int32] = [0, 0]
var count = 0
while pipe(&ends) == 0 {
  event.storeBytes(of: 1, as: UInt32.self)
  event.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: 4, as: Unmanaged<Node>.self)
  if control(poll, 1, ends[0], event) == 0 { count += 1 }
}
while dup(0) >= 0 {}
event.storeBytes(of: 0, toByteOffset: 4, as: UInt64.self)
print(count > 90 ? "registered" : "only \(count)")
exit(0)
