// The message is sent by a handler of atexit, inside of a signal handler, or by the destructor of a thread-local value.
// EXPECT zombie kind=method|field|retain type=App.Target allocated=make freed=drop used=send
// EXPECT crash
// CASE hostile-exit-handler
// CASE hostile-signal-handler
// FLAGS -D SIGNAL
// CASE hostile-thread-exit
// FLAGS -D THREAD
#if THREAD
  import Foundation
#else
  import Glibc
#endif

class Target {
  var number = 1
  func act() -> Int { number }
}

class Special: Target {
  override func act() -> Int { number + 1 }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Target> { Unmanaged.passRetained(Target()) }
@inline(never) func drop(_ target: Unmanaged<Target>) {
  target.release()
  done()
}
@inline(never) @_optimize(none) func send() {
  _ = target._withUnsafeGuaranteedRef { $0.act() }
}

nonisolated(unsafe) let target = make()
#if SIGNAL
  drop(target)
  signal(SIGUSR1) { _ in send() }
  raise(SIGUSR1)
  print("not reached")
#elseif THREAD
  nonisolated(unsafe) var key = pthread_key_t()
  pthread_key_create(&key) { _ in send() }
  drop(target)
  let thread = Thread { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
  thread.start()
  sleep(10)
#else
  atexit { send() }
  drop(target)
  print("ending")
#endif
