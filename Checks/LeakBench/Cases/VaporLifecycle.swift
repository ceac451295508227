// source: vapor/vapor 145894fa81d5 (#2278)
// A struct in the application refers to the application. The fix clears it at shutdown.
// expect: leak Application via Application.lifecycle.application

enum VaporLifecycle: LeakCase {
  struct Lifecycle {
    var handlers: [String] = []
    var application: Application?
  }

  final class Application {
    var isRunning = true
    var lifecycle = Lifecycle()

    init() {
      lifecycle.application = self
      lifecycle.handlers.append("database")
    }

    func shutDown() {
      isRunning = false
      lifecycle.handlers = []
      #if FIXED
        lifecycle.application = nil
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { Application().shutDown() }
  }
}
