import UndeadRunLoop

extension RunLoopScenario {
  static let strongTimers = [
    RunLoopScenario(1, "a repeating timer with a strong target, which holds the timer", .init(ownerLives: true)) {
      loop in
      try afterLettingGo(of: { try ownerWithTimer(loop) }, on: loop)
    },
    RunLoopScenario(2, "the same, but the owner holds the timer weakly", .init(ownerLives: true)) { loop in
      try afterLettingGo(
        of: {
          let owner = try ownerWithTimer(loop)
          owner.weakTimer = owner.timer
          owner.timer = nil
          return owner
        }, on: loop)
    },
    RunLoopScenario(
      3, "the same, and deinit would invalidate the timer: it never runs", .init(ownerLives: true)
    ) { loop in
      try afterLettingGo(
        of: {
          let owner = try ownerWithTimer(loop)
          invalidateAtTheEnd(of: owner)
          return owner
        }, on: loop)
    },
    RunLoopScenario(
      4, "the target is given through a weak variable: the timer retains what it is given", .init(ownerLives: true)
    ) { loop in
      try afterLettingGo(
        of: {
          let owner = Owner()
          weak let target = owner
          if let target { owner.timer = try schedule(target, on: loop) }
          return owner
        }, on: loop)
    },
    RunLoopScenario(
      8, "a block timer whose block captures the owner strongly", .init(ownerLives: true)
    ) { loop in
      try afterLettingGo(
        of: {
          let owner = Owner()
          owner.timer = try loop.schedule(every: interval) { timer in owner.tick(timer) }
          return owner
        }, on: loop)
    },
    RunLoopScenario(11, "a one-shot timer with a strong target: alive until it fires", .init()) { loop in
      weak var owner: Owner?
      do {
        let made = Owner()
        owner = made
        loop.add(
          try TrackedTimer(timeInterval: interval, target: made) { owner, timer in owner.tick(timer) },
          forMode: .default)
      }
      guard owner != nil else { return true }
      runShortly(loop)
      return owner != nil
    },
  ]

  static let weakTimers = [
    RunLoopScenario(5, "a forwarding proxy between timer and owner, deinit invalidates", .init()) { loop in
      try afterLettingGo(of: { try ownerWithProxy(WeakProxy.init, loop, invalidates: true) }, on: loop)
    },
    RunLoopScenario(6, "a proxy that passes for its target, deinit invalidates", .init()) { loop in
      try afterLettingGo(
        of: {
          let owner = try ownerWithProxy(TransparentWeakProxy.init, loop, invalidates: true)
          precondition(TransparentWeakProxy(owner).isKind(of: Owner.self))
          precondition(!WeakProxy(owner).isKind(of: Owner.self))
          return owner
        }, on: loop)
    },
    RunLoopScenario(7, "a proxy, but deinit does not invalidate", .init(.timerFiringForDeadTarget)) { loop in
      try afterLettingGo(of: { try ownerWithProxy(WeakProxy.init, loop, invalidates: false) }, on: loop)
    },
    RunLoopScenario(9, "a block timer with a weak capture, deinit invalidates", .init()) { loop in
      try afterLettingGo(
        of: {
          let owner = Owner()
          owner.timer = try loop.schedule(every: interval) { [weak owner] timer in owner?.tick(timer) }
          invalidateAtTheEnd(of: owner)
          return owner
        }, on: loop)
    },
    RunLoopScenario(
      10, "a timer that knows its owner only weakly and is never invalidated", .init(.timerFiringForDeadTarget)
    ) { loop in
      try afterLettingGo(
        of: {
          let owner = Owner()
          let timer = try TrackedTimer(timeInterval: interval, target: owner, holding: .weak, repeats: true) {
            owner, timer in owner.tick(timer)
          }
          loop.add(timer, forMode: .default)
          return owner
        }, on: loop)
    },
    RunLoopScenario(12, "a weak timer on the run loop ends with its target", .init()) { loop in
      try afterLettingGo(
        of: {
          let owner = Owner()
          try WeakTimer.scheduledTimer(timeInterval: interval, target: owner, repeats: true, loop: loop) { owner, _ in
            owner.ticks += 1
          }
          return owner
        }, on: loop)
    },
    RunLoopScenario(14, "a timer whose target is a type: types never die", .init()) { loop in
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
  let timer = try TrackedTimer(timeInterval: interval, target: owner, selector: "tick", repeats: true) { owner, timer in
    owner.tick(timer)
  }
  timer.name = "poll"
  loop.add(timer, forMode: .default)
  return timer
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
  let timer = try TrackedTimer(timeInterval: interval, proxy: makeProxy(owner), repeats: true) { owner, timer in
    owner.tick(timer)
  }
  loop.add(timer, forMode: .default)
  owner.timer = timer
  if invalidates { invalidateAtTheEnd(of: owner) }
  return owner
}
