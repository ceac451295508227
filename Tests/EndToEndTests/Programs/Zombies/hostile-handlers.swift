// The message is sent by a handler of atexit, inside of a signal handler, by the destructor of a thread-local value, or by the child
// of a fork, whose parent ends with 0; or by code without frame pointers, whose backtraces are whole nevertheless. With Swift's library
// in the program nothing of that can be replaced, so deaths are seen when memory is freed.
// CASE hostile-exit-handler
// EXPECT zombie kind=method|field|retain type=App.Target allocated=make freed=drop used=send
// EXPECT crash
// CASE hostile-signal-handler
// FLAGS -D SIGNAL
// EXPECT zombie kind=method|field|retain type=App.Target allocated=make freed=drop used=send
// EXPECT crash
// CASE hostile-thread-exit
// FLAGS -D THREAD
// EXPECT zombie kind=method|field|retain type=App.Target allocated=make freed=drop used=send
// EXPECT crash
// CASE hostile-forked-child
// FLAGS -D FORK
// EXPECT zombie kind=method|field|retain type=App.Target allocated=make freed=drop used=send
// EXPECT exit 0
// CASE hostile-no-frame-pointers
// FLAGS -D PLAIN -Xcc -fomit-frame-pointer -Xllvm -frame-pointer=none
// EXPECT zombie kind=method type=App.Target allocated=make freed=drop used=send
// EXPECT crash
// CASE hostile-static-stdlib
// FLAGS -D PLAIN -static-stdlib
// EXPECT zombie kind=method|field|retain type=App.Target used=send
// EXPECT crash
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

@_silgen_name("fork") func forkProcess() -> pid_t

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Target> { Unmanaged.passRetained(Target()) }
@inline(never) func drop(_ target: Unmanaged<Target>) {
  target.release()
  done()
}
@inline(never) @_optimize(none) func send() {
  _ = target._withUnsafeGuaranteedRef { $0.act() }
  done()
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
#elseif FORK
  drop(target)
  let child = forkProcess()
  if child == 0 {
    send()
    _exit(0)
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  print(status & 0x7f != 0 ? "the child died" : "the child went on")
#elseif PLAIN
  drop(target)
  send()
#else
  atexit { send() }
  drop(target)
  print("ending")
#endif
