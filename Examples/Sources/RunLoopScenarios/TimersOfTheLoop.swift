import UndeadRunLoop

extension RunLoopScenario {
  private static let poll = ["run loop", "mode default", "timer \"poll\"", "target: Owner"]

  static let strongTimers = [
    RunLoopScenario(
      1, "a repeating timer with a strong target, which holds the timer",
      .init(path: poll, holdsBack: true, diagnostics: [])
    ) { loop in
      try afterClosing(loop) { try ownerWithTimer(loop) }
    },
    RunLoopScenario(
      2, "the same, but the owner holds the timer weakly", .init(path: poll, holdsBack: false, diagnostics: [])
    ) { loop in
      try afterClosing(loop) {
        let owner = try ownerWithTimer(loop)
        owner.weakTimer = owner.timer
        owner.timer = nil
        return owner
      }
    },
    RunLoopScenario(
      3, "the same, and deinit would invalidate the timer: it never runs",
      .init(path: poll, holdsBack: true, diagnostics: [])
    ) { loop in
      try afterClosing(loop) {
        let owner = try ownerWithTimer(loop)
        invalidateAtTheEnd(of: owner)
        return owner
      }
    },
    RunLoopScenario(
      4, "the target is given through a weak variable: the timer retains what it is given",
      .init(path: poll, holdsBack: true, diagnostics: [])
    ) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        weak let target = owner
        if let target { owner.timer = try schedule(target, on: loop) }
        return owner
      }
    },
    RunLoopScenario(
      8, "a block timer whose block captures the owner strongly",
      .abandoned("run loop", "mode default", "timer \"poll\"", "closure #1", "Owner.poll", "captures self")
    ) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        try owner.poll(on: loop)
        return owner
      }
    },
    RunLoopScenario(11, "a one-shot timer with a strong target: alive until it fires", .clean) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        let timer = try TrackedTimer(after: interval * 10, target: owner) { owner, timer in owner.tick(timer) }
        try loop.add(timer, forMode: .default)
        return owner
      }
    },
  ]

  static let weakTimers = [
    RunLoopScenario(5, "a forwarding proxy between timer and owner, deinit invalidates", .clean) { loop in
      try afterClosing(loop) { try ownerWithProxy(WeakProxy.init, loop, invalidates: true) }
    },
    RunLoopScenario(6, "a proxy that passes for its target, deinit invalidates", .clean) { loop in
      try afterClosing(loop) {
        let owner = try ownerWithProxy(TransparentWeakProxy.init, loop, invalidates: true)
        precondition(TransparentWeakProxy(owner).isKind(of: Owner.self))
        precondition(!WeakProxy(owner).isKind(of: Owner.self))
        return owner
      }
    },
    RunLoopScenario(7, "a proxy, but deinit does not invalidate", .told(.timerFiringForDeadTarget)) { loop in
      try afterClosing(loop) { try ownerWithProxy(WeakProxy.init, loop, invalidates: false) }
    },
    RunLoopScenario(9, "a block timer with a weak capture, deinit invalidates", .clean) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        owner.timer = try loop.schedule(every: interval) { [weak owner] timer in owner?.tick(timer) }
        invalidateAtTheEnd(of: owner)
        return owner
      }
    },
    RunLoopScenario(
      10, "a block timer with a weak capture that is never invalidated", .told(.timerFiringForDeadTarget)
    ) { loop in
      let ownerLives = try afterClosing(loop) {
        let owner = Owner()
        owner.timer = try loop.schedule(every: interval) { [weak owner] timer in owner?.tick(timer) }
        return owner
      }
      runShortly(loop)
      return ownerLives
    },
    RunLoopScenario(12, "a weak timer on the run loop ends with its target", .clean) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        try WeakTimer.scheduledTimer(timeInterval: interval, target: owner, repeats: true, loop: loop) { owner, _ in
          owner.ticks += 1
        }
        return owner
      }
    },
    RunLoopScenario(14, "a timer whose target is a type: types never die", .clean) { loop in
      let timer = try loop.schedule(every: interval) { _ in TypeTarget.tick() }
      runShortly(loop)
      timer.invalidate()
      return false
    },
  ]
}

enum TypeTarget {
  static func tick() {}
}

func schedule(_ owner: Owner, on loop: TrackedRunLoop) throws -> TrackedTimer {
  let timer = try TrackedTimer(after: interval, target: owner, selector: "tick", repeats: true) { owner, timer in
    owner.tick(timer)
  }
  timer.name = "poll"
  try loop.add(timer, forMode: .default)
  return timer
}

extension Owner {
  fileprivate func poll(on loop: TrackedRunLoop) throws {
    timer = try loop.schedule(every: interval) { timer in self.tick(timer) }
    timer?.name = "poll"
  }
}

private func ownerWithTimer(_ loop: TrackedRunLoop) throws -> Owner {
  let owner = Owner()
  owner.timer = try schedule(owner, on: loop)
  return owner
}

private func invalidateAtTheEnd(of owner: Owner) {
  owner.onEnd = { [weak timer = owner.timer] in timer?.invalidate() }
}

private func ownerWithProxy<Proxy: WeakProxying<Owner> & Sendable>(
  _ makeProxy: (Owner) -> Proxy, _ loop: TrackedRunLoop, invalidates: Bool
) throws -> Owner {
  let owner = Owner()
  let timer = try TrackedTimer(after: interval, target: makeProxy(owner), repeats: true) { owner, timer in
    owner.forward { $0.tick(timer) }
  }
  try loop.add(timer, forMode: .default)
  owner.timer = timer
  if invalidates { invalidateAtTheEnd(of: owner) }
  return owner
}
