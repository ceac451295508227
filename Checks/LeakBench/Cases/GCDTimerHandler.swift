// source: hemantasapkota/GCDTimer issue 2
// A timer class keeps a dispatch source whose handler captured the timer. The fix captures it weakly, so that the source is
// cancelled in `deinit`.
// expect: suspect Timer in Timer.start

import Dispatch

enum GCDTimerHandler: LeakCase {
  final class Timer: @unchecked Sendable {
    private let source = DispatchSource.makeTimerSource(queue: .global())
    private var fires = 0
    var onFire: (@Sendable (Int) -> Void)?

    func start() {
      source.schedule(deadline: .now() + 3600, repeating: 3600)
      #if FIXED
        source.setEventHandler { [weak self] in self?.fire() }
      #else
        source.setEventHandler { self.fire() }
      #endif
      source.resume()
    }

    private func fire() {
      fires += 1
      onFire?(fires)
    }

    deinit { source.cancel() }
  }

  @inline(never) static func oneRound() {
    let timer = Timer()
    timer.start()
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { oneRound() }
  }
}
