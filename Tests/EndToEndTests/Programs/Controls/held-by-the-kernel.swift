// Objects that only the kernel knows: as the data of epoll registrations, the values of timers and of signals that wait.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
@_silgen_name("epoll_create1") func createPoll(_ flags: Int32) -> Int32
@_silgen_name("epoll_ctl") func control(
  _ poll: Int32, _ operation: Int32, _ file: Int32, _ event: UnsafeMutableRawPointer
) -> Int32
@_silgen_name("eventfd") func makeEvent(_ value: UInt32, _ flags: Int32) -> Int32

let poll = createPoll(0)
@inline(never) func register() {
  // A packed record: events, then the data.
  let event = UnsafeMutableRawPointer.allocate(byteCount: 12, alignment: 8)
  for _ in 0..<200 {
    event.storeBytes(of: 1, as: UInt32.self)
    event.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: 4, as: Unmanaged<Node>.self)
    _ = control(poll, 1, makeEvent(0, 0), event)
  }
  event.storeBytes(of: nil, toByteOffset: 4, as: UnsafeMutableRawPointer?.self)
  event.deallocate()
}
@inline(never) func schedule() {
  for _ in 0..<50 {
    var timer: timer_t?
    var event = sigevent()
    event.sigev_notify = 0  // SIGEV_SIGNAL
    event.sigev_signo = SIGURG
    event.sigev_value.sival_ptr = Unmanaged.passRetained(Node()).toOpaque()
    timer_create(CLOCK_MONOTONIC, &event, &timer)
  }
}
register()
schedule()
print("registered")
