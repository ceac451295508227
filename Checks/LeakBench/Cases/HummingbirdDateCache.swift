// source: hummingbird-project/hummingbird 3829d93d (#86)
// Each event loop has a cache for the date in a thread-local variable, with a repeated task that nobody cancelled. The fix
// cancels it and clears the variable at shutdown.
// expect: leak DateCache via Loop.scheduled

enum HummingbirdDateCache: LeakCase {
  final class Loop {
    private var scheduled: [Int: () -> Void] = [:]
    private var next = 0
    var threadLocal: DateCache?

    func scheduleRepeated(_ body: @escaping () -> Void) -> Int {
      next += 1
      scheduled[next] = body
      return next
    }
    func cancel(_ task: Int) { scheduled[task] = nil }
    func tick() { for body in scheduled.values { body() } }
  }

  final class DateCache {
    var date = "now"
    private let loop: Loop
    private var task = 0

    init(on loop: Loop) {
      self.loop = loop
      task = loop.scheduleRepeated { self.date = "later" }
    }

    func shutDown() { loop.cancel(task) }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let loop = Loop()
      loop.threadLocal = DateCache(on: loop)
      loop.tick()
      #if FIXED
        loop.threadLocal?.shutDown()
      #endif
      loop.threadLocal = nil
    }
  }
}
