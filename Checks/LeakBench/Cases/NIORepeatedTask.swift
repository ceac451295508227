// source: apple/swift-nio 1e022339dc2e
// A repeated task that nobody keeps any more was started nevertheless, as the closure that starts it held it. From then on
// it schedules itself without end. The fix captures it weakly.
// expect: growth Repeated via Loop.scheduled

enum NIORepeatedTask: LeakCase {
  final class Loop {
    var queue: [() -> Void] = []
    var scheduled: [() -> Void] = []

    func tick() {
      let ready = queue
      queue = []
      for body in ready { body() }
    }
  }

  final class Repeated {
    let loop: Loop
    var fires = 0

    init(on loop: Loop) { self.loop = loop }

    func begin() {
      #if FIXED
        loop.queue.append { [weak self] in self?.schedule() }
      #else
        loop.queue.append { self.schedule() }
      #endif
    }

    private func schedule() {
      loop.scheduled.append {
        self.fires += 1
        self.schedule()
      }
    }
  }

  nonisolated(unsafe) static let loop = Loop()

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { Repeated(on: loop).begin() }
    loop.tick()
  }
}
