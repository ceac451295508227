// Objects that keep themselves alive, whose addresses only C code has, in functions whose names look like those of Swift's compiler,
// its runtime, and the instrument.
// EXPECT silent
// HEADER ../Support/callers.h
import Foundation

final class Session {
  private var itself: Session?
  init() { itself = self }
  func end() { itself = nil }
}
@inline(never) func makeSession() -> UnsafeMutableRawPointer? {
  Unmanaged.passUnretained(Session()).toOpaque()
}
@inline(never) func endSession(_ session: UnsafeMutableRawPointer?) {
  Unmanaged<Session>.fromOpaque(session!).takeUnretainedValue().end()
}
let gate = UnsafeMutablePointer<Int32>.allocate(capacity: 2)
guard pipe(gate) == 0 else { fatalError("no pipe") }
/// Uses registers that it has to preserve, so that what the caller had in them is in its frame.
@inline(never) func wait() {
  var bytes: (UInt8, UInt8, UInt8, UInt8) = (1, 2, 3, 4)
  let numbers = (getpid(), getppid(), getuid(), geteuid(), getgid())
  let first = read(gate[0], &bytes, 1)
  let second = write(gate[1], &bytes, 1)
  if first != 1 || second != 1 || numbers.0 &+ numbers.1 == 1 || numbers.2 &+ numbers.3 &+ numbers.4 == 7 {
    fatalError("the pipe is broken, or the numbers are odd")
  }
}
let callers: [@convention(c) (object_maker?, waiting_code?, object_end?) -> Void] = [
  worker_main, App_main, async_Main, swift_session_run, _swift_session_run, undead_session_run, _start_session,
]
let threads = DispatchGroup()
for caller in callers {
  threads.enter()
  Thread {
    caller({ makeSession() }, { wait() }, { endSession($0) })
    threads.leave()
  }.start()
}
wait_until_others_sleep()

var falseReports = 0
for copy in [false, true] { falseReports += Int(undead_test_result(copy, false).leaked) }
var byte: UInt8 = 1
_ = write(gate[1], &byte, 1)
threads.wait()
print("false reports: \(falseReports)")
