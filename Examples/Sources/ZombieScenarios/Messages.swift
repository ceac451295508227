extension ZombieScenario {
  static let messages = [
    ZombieScenario(
      "27.1", "a method is called through unowned(unsafe) after the owner let the object go",
      kinds: ["method"], type: "ZombieScenarios.Poller", member: "Poller.tick()"
    ) {
      let loop = openAndClose()
      loop.poll()
    },
    ZombieScenario(
      "27.2", "a method is called through Unmanaged after the last release", kinds: ["method"],
      type: "ZombieScenarios.Poller", member: "Poller.tick()"
    ) {
      let poller = Unmanaged.passRetained(makePoller())
      release(poller)
      callBack(poller)
    },
    ZombieScenario(
      "27.3", "a class method is called through the type of a dead object", kinds: ["method"],
      type: "ZombieScenarios.Poller", member: "Poller.limit()"
    ) {
      let poller = Unmanaged.passRetained(makePoller())
      release(poller)
      askType(of: poller)
    },
  ]
}

/// A loop that does not own what it polls.
final class PollLoop {
  private unowned(unsafe) let poller: Poller

  init(_ poller: Poller) { self.poller = poller }

  @inline(never) @_optimize(none)
  func poll() {
    print("ticks:", poller.tick())
  }
}

/// The poller dies when this returns, the loop does not.
@inline(never) @_optimize(none)
private func openAndClose() -> PollLoop {
  let poller = ZombieScenario.makePoller()
  let loop = PollLoop(poller)
  done()
  return loop
}

@inline(never) @_optimize(none)
func release(_ poller: Unmanaged<some AnyObject>) {
  poller.release()
  done()
}

@inline(never) @_optimize(none)
private func callBack(_ context: Unmanaged<Poller>) {
  print("ticks:", context._withUnsafeGuaranteedRef { $0.tick() })
}

@inline(never) @_optimize(none)
private func askType(of context: Unmanaged<Poller>) {
  print("limit:", context._withUnsafeGuaranteedRef { type(of: $0).limit() })
}
