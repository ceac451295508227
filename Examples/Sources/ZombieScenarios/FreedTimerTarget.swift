import UndeadRunLoop

extension ZombieScenario {
  /// The timer knows that its target has died, and does not call it; it says who is to blame.
  static let freedTimerTarget = ZombieScenario(
    "26", "a timer holds its target unretained, and the target dies before the timer", kinds: ["timerTarget"],
    type: "ZombieScenarios.Poller"
  ) {
    let loop = TrackedRunLoop.current
    let timer = try schedule(on: loop)
    loop.run(for: .milliseconds(50))
    timer.invalidate()
  }

  @inline(never) @_optimize(none)
  private static func schedule(on loop: TrackedRunLoop) throws -> TrackedTimer {
    let poller = makePoller()
    let timer = try TrackedTimer(timeInterval: 0.002, target: poller, holding: .unretained, repeats: true) {
      poller, _ in _ = poller.tick()
    }
    try loop.add(timer, forMode: .default)
    return timer
  }

  @inline(never) @_optimize(none)
  static func makePoller() -> Poller { Poller() }
}
