// Thread dictionaries, pthread keys with destructors, task locals.
// EXPECT silent
// HEADER ../Support/waiting.h
import Foundation

final class Value {
  var number = 4
}
enum Trace {
  @TaskLocal static var value: Value?
}
var key = pthread_key_t()
pthread_key_create(&key) { pointer in Unmanaged<Value>.fromOpaque(pointer!).release() }

@inline(never) func fill() {
  Thread.current.threadDictionary["value"] = Value()
  pthread_setspecific(key, Unmanaged.passRetained(Value()).toOpaque())
}
fill()
let ready = DispatchSemaphore(value: 0)
for index in 0..<5 {
  Thread {
    fill()
    ready.signal()
    if index % 2 == 0 { sleep(1000) }
  }.start()
}
for _ in 0..<5 { ready.wait() }
Task.detached {
  await Trace.$value.withValue(Value()) {
    ready.signal()
    try? await Task.sleep(for: .seconds(1000))
    print(Trace.value?.number ?? 0)
  }
}
ready.wait()
wait_until_others_sleep()
print("stored")
