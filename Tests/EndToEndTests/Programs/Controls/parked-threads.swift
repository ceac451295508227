// Threads parked for ever hold the only reference on their stacks, in registers, in tuples on the stack.
// EXPECT silent
// HEADER ../Support/waiting.h
import Foundation

final class Local {
  var values = [1, 2, 3]
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

let ready = DispatchSemaphore(value: 0)
let never = DispatchSemaphore(value: 0)
for index in 0..<4 {
  Thread {
    let local = Local()
    let more = (Local(), [Local(), Local()], [index: Local()])
    ready.signal()
    never.wait()
    use(local)
    use(more.0)
    print(more.1, more.2)
  }.start()
}
for _ in 0..<3 {
  Thread {
    let local = Local()
    ready.signal()
    withExtendedLifetime(local) { sleep(1000) }
  }.start()
}
let condition = NSCondition()
Thread {
  let local = Local()
  condition.lock()
  ready.signal()
  while local.values.count == 3 { condition.wait() }
  condition.unlock()
}.start()
var descriptors: [Int32] = [0, 0]
pipe(&descriptors)
Thread {
  let local = Local()
  var byte: UInt8 = 0
  ready.signal()
  read(descriptors[0], &byte, 1)
  use(local)
}.start()
for _ in 0..<9 { ready.wait() }
wait_until_others_sleep()
print("parked")
