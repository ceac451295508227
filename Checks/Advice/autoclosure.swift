// An autoclosure that is kept by the object which its argument uses.
// KEPT BY the autoclosure
// ADVICE it is the argument of an autoclosure, which has no capture list
// FIX a value that was worked out before the call
import Foundation

final class Logger {
  private var message: (() -> String)?
  private var count = 0
  func log(_ text: @autoclosure @escaping () -> String) { message = text }
  func start() {
    #if FIXED
      let text = "count: \(count)"
      log(text)
    #else
      log("count: \(self.count)")
    #endif
  }
}
@inline(never) func run() { Logger().start() }
run()
