import Dispatch
import Foundation
import Undead
import UndeadRunLoop

extension RunLoopScenario {
  static let threadsAndFrames = [
    RunLoopScenario(43, "a thread that schedules a timer and ends: nobody ran its loop", .told(.loopNeverRun)) { _ in
      endingThread {
        TrackedRunLoop.current.name = "forgotten"
        let timer = try? TrackedRunLoop.current.schedule(every: interval) { _ in }
        timer?.name = "poll"
      }
      return false
    },
    RunLoopScenario(
      44, "a thread that schedules a timer and then waits for something else than its loop", .told(.loopNeverRun)
    ) { _ in
      let isScheduled = DispatchSemaphore(value: 0)
      let mayEnd = DispatchSemaphore(value: 0)
      let thread = startThread {
        TrackedRunLoop.current.name = "waiting"
        let timer = try? TrackedRunLoop.current.schedule(every: interval) { _ in }
        timer?.name = "poll"
        isScheduled.signal()
        mayEnd.wait()
        timer?.invalidate()
      }
      isScheduled.wait()
      Thread.sleep(forTimeInterval: 1.2)
      RunLoopDiagnostics.check()
      mayEnd.signal()
      thread.wait()
      return false
    },
    RunLoopScenario(45, "the same thread runs its loop", .clean) { _ in
      endingThread {
        let timer = try? TrackedRunLoop.current.schedule(every: interval) { timer in
          if timer.firings == 3 { timer.invalidate() }
        }
        TrackedRunLoop.current.run()
        precondition(timer?.firings == 3)
      }
      return false
    },
    RunLoopScenario(46, "a display link whose loop is kept busy drops frames", .told(.framesDropped)) { loop in
      let link = TrackedDisplayLink(target: Owner()) { owner, _ in owner.ticks += 1 }
      link.name = "spinner"
      try link.add(to: loop, forMode: .common)
      let isDone = DispatchSemaphore(value: 0)
      try loop.schedule(after: .seconds(0.05)) { _ in
        work()
        isDone.signal()
      }.name = "slow"
      repeat { loop.run(for: .milliseconds(100)) } while isDone.wait(timeout: .now()) == .timedOut
      loop.run(for: .milliseconds(300))
      precondition(link.droppedFrames > 0)
      link.invalidate()
      return false
    },
    RunLoopScenario(47, "the same work is done elsewhere", .clean) { loop in
      let link = TrackedDisplayLink(target: Owner()) { owner, _ in owner.ticks += 1 }
      try link.add(to: loop, forMode: .common)
      let isDone = DispatchSemaphore(value: 0)
      try loop.schedule(after: .seconds(0.05)) { _ in
        DispatchQueue.global().async {
          work()
          isDone.signal()
        }
      }
      loop.run(for: .milliseconds(600))
      isDone.wait()
      link.invalidate()
      return false
    },
    RunLoopScenario(
      48, "a permanent thread that asks its owner whether to go on, and so holds it",
      .abandoned("makePermanentThread", holdsBack: false)
    ) { _ in
      let scope = OwnerScope("screen")
      weak let owner = makePermanentThread(scope) { owner, loop in
        while !owner.isStopped { loop.run(mode: .default, before: .distantFuture) }
      }
      Thread.sleep(forTimeInterval: 20 * intervalInSeconds)
      scope.close(grace: grace)
      return owner != nil
    },
    RunLoopScenario(
      49, "the same asks weakly, as LJThread does, and is stopped by a perform that deinit waits for", .clean
    ) { _ in
      let ended = DispatchSemaphore(value: 0)
      let scope = OwnerScope("screen")
      weak var owner: Owner?
      do {
        let ready = DispatchSemaphore(value: 0)
        let made = scope.adopt(Owner())
        owner = made
        weak let asked = made
        let loop = Locked<TrackedRunLoop>()
        startThread {
          loop.value = .current
          TrackedRunLoop.current.name = "permanent"
          let timer = try? TrackedRunLoop.current.schedule(every: .seconds(600)) { _ in }
          ready.signal()
          while asked?.isStopped == false { TrackedRunLoop.current.run(mode: .default, before: .distantFuture) }
          timer?.invalidate()
        }.notify(queue: .global()) { ended.signal() }
        ready.wait()
        made.onEnd = {
          // Not the owner itself, which is dying: the loop wakes, and sees that nobody is there.
          try? loop.value?.perform(waitUntilDone: true) { loop.value?.stop() }
        }
      }
      scope.close(grace: .seconds(10))
      precondition(ended.wait(timeout: .now() + 20) == .success)
      return owner != nil
    },
    RunLoopScenario(50, "a thread that ends with all sorts of things in its loop", .told(.timersDetached)) { _ in
      endingThread {
        try? leaveThingsBehind(in: .current)
        TrackedRunLoop.current.run(for: .zero)
      }
      return false
    },
  ]
}

/// What a thread made; it is set before anybody else asks.
private final class Locked<Value>: @unchecked Sendable {
  var value: Value?
}

/// None of it may live on when the loop has ended.
private func leaveThingsBehind(in loop: TrackedRunLoop) throws {
  loop.name = "sundry"
  let owner = Owner()
  _ = try WeakTimer(timeInterval: .seconds(600), target: owner, userInfo: Owner(), repeats: true, loop: loop) { _, _ in
  }
  try WeakTimer.scheduledTimer(timeInterval: .seconds(600), target: owner, userInfo: Owner(), repeats: true, loop: loop)
  {
    _, _ in
  }
  try TrackedDisplayLink(target: Owner()) { owner, _ in owner.ticks += 1 }.add(to: loop, forMode: .common)
  try loop.schedule(every: .seconds(600)) { [owner = Owner()] _ in owner.ticks += 1 }
  try loop.perform(after: .seconds(600), on: Owner()) { $0.ticks += 1 }
  loop.perform(inModes: [.tracking]) { [owner = Owner()] in owner.ticks += 1 }
  loop.confine { [owner = Owner()] here in
    _ = try? here.schedule(after: .seconds(600), repeats: true) { _ in owner.ticks += 1 }
  }
}

@inline(never) private func makePermanentThread(
  _ scope: OwnerScope, _ body: @escaping @Sendable (Owner, TrackedRunLoop) -> Void
) -> Owner {
  let made = scope.adopt(Owner())
  Thread.detachNewThread {
    TrackedRunLoop.current.name = "permanent"
    // Without anything in it the loop would not wait.
    _ = try? TrackedRunLoop.current.schedule(every: .seconds(600)) { _ in }
    body(made, .current)
  }
  return made
}

/// Starts a thread, and waits for its end.
private func endingThread(_ body: @escaping @Sendable () -> Void) { startThread(body).wait() }

/// Starts a thread; the group is empty when its loop has ended, too.
@discardableResult
private func startThread(_ body: @escaping @Sendable () -> Void) -> DispatchGroup {
  let group = DispatchGroup()
  group.enter()
  // Joined by another: what a thread's loop does at its end comes after the thread's body.
  DispatchQueue.global().async {
    var thread = pthread_t()
    let start = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    let error = pthread_create(
      &thread, nil,
      { @Sendable argument in
        guard let argument else { return nil }
        Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, start)
    precondition(error == 0)
    pthread_join(thread, nil)
    group.leave()
  }
  return group
}

private final class ThreadBody {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Takes longer than a frame.
@inline(never) private func work() {
  let end = Date(timeIntervalSinceNow: 0.3)
  while Date() < end { Thread.sleep(until: end) }
}
