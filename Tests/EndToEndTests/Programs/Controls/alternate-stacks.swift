// Memory that only the kernel knows as the stack of signal handlers, and what the program sees of it.
// EXPECT silent
// HEADER ../Support/waiting.h
import Glibc

@inline(never) func install() {
  var stack = stack_t(
    ss_sp: UnsafeMutableRawPointer.allocate(byteCount: 65536, alignment: 16), ss_flags: 0, ss_size: 65536)
  var before = stack_t()
  print(sigaltstack(&stack, &before), before.ss_flags)
}
@inline(never) func look() {
  var now = stack_t()
  print(sigaltstack(nil, &now), now.ss_flags, now.ss_size, now.ss_sp == nil)
  now.ss_size = 1
  print(sigaltstack(&now, nil), errno == ENOMEM)
}
install()
look()
let ready = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
sem_init(ready, 0, 0)
for _ in 0..<4 {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      var stack = stack_t(
        ss_sp: UnsafeMutableRawPointer.allocate(byteCount: 65536, alignment: 16), ss_flags: 0, ss_size: 65536)
      withUnsafeMutablePointer(to: &stack) { _ = sigaltstack($0, $0) }
      stack.ss_sp = nil
      sem_post(ready)
      while true { sleep(1000) }
    }, nil)
}
for _ in 0..<4 { sem_wait(ready) }
wait_until_others_sleep()
