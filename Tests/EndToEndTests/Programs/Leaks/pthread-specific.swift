// Objects in pthread keys without a destructor, left behind by threads that ended.
// EXPECT leak kind=unreferenced types=App.ThreadState count=6 at=state
import Glibc

final class ThreadState {
  var depth = 1
}
var key = pthread_key_t()
pthread_key_create(&key, nil)

@inline(never) func enter() {
  let state = ThreadState()  // @state
  pthread_setspecific(key, Unmanaged.passRetained(state).toOpaque())
}
for _ in 0..<6 {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      enter()
      return nil
    }, nil)
  pthread_join(thread, nil)
}
