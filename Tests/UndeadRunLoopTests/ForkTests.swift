import CUndeadRunLoop
import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

/// Forks, as C does; the library does not let Swift call it by its name. Returns what the child exits with, which is 0 if
/// `body` says that all was well, or minus the signal that killed it.
private func inChild(_ body: () -> Bool) -> Int32 {
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  let child = fork()
  if child == 0 {
    // Dispatch's threads block them.
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
    // A child that waits for what never comes is ended.
    alarm(20)
    _exit(body() ? 0 : 1)
  }
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0, errno == EINTR {}
  return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
}

/// Children share their parent's descriptors, and must leave them alone. Each test forks a process of its own, which has
/// few other threads.
@Suite(.timeLimit(.minutes(5))) struct ForkTests {
  @Test func aChildsChangesAreItsOwn() async {
    await #expect(processExitsWith: .success) {
      let loop = TrackedRunLoop(name: "forked")
      let pipe = Pipe()
      let calls = Counter()
      let source = TrackedRunLoopSource(descriptor: pipe.reading, conditions: .readable) { _, _ in
        pipe.receive()
        calls.up()
      }
      try loop.add(source, forMode: .default)
      loop.run(for: .milliseconds(1))
      let status = inChild {
        source.invalidate()
        let own = Pipe()
        own.send()
        let other = TrackedRunLoopSource(descriptor: own.reading, conditions: .readable) { _, _ in own.receive() }
        _ = try? loop.add(other, forMode: .default)
        return loop.run(mode: .default, for: .seconds(10), returnAfterSourceHandled: true) == .handledSource
      }
      #expect(status == 0)
      pipe.send()
      #expect(loop.run(mode: .default, before: .distantFuture) == .handledSource)
      #expect(calls.count == 1)
    }
  }

  @Test func aChildGoesOnWithTheLoopThatItForkedIn() async {
    await #expect(processExitsWith: .success) {
      let loop = TrackedRunLoop(name: "forked")
      let pipe = Pipe()
      let calls = Counter()
      let ticks = Counter()
      let statuses = Locked<[Int32]>([])
      let source = TrackedRunLoopSource(descriptor: pipe.reading, conditions: .readable) { source, _ in
        pipe.receive()
        if calls.up() > 1 { return source.invalidate() }
        let status = inChild {
          pipe.send()
          return loop.run(mode: .default, for: .seconds(10), returnAfterSourceHandled: true) == .handledSource
            && calls.count == 2 && ticks.count > 0
        }
        statuses.withLock { $0.append(status) }
        pipe.send()
      }
      try loop.add(source, forMode: .default)
      let timer = try loop.schedule(every: .seconds(0.001)) { _ in ticks.up() }
      pipe.send()
      #expect(loop.run(mode: .default, before: .distantFuture) == .handledSource)
      #expect(statuses.withLock { $0 } == [0])
      #expect(loop.run(mode: .default, before: .distantFuture) == .handledSource)
      timer.invalidate()
      #expect(loop.run(for: .seconds(10)) == .finished)
    }
  }

  /// A wake-up, a timer and an end in the child are nothing that the parent's loop would notice.
  @Test func theParentsLoopSleepsOn() async {
    await #expect(processExitsWith: .success) {
      let thread = RunLoopThread(name: "asleep")
      let driven = TrackedRunLoop(name: "driven")
      let far = try thread.loop.schedule(after: .seconds(1000)) { _ in }
      let later = try driven.schedule(after: .seconds(1000)) { _ in }
      var poll = pollfd(fd: driven.pollDescriptor, events: Int16(POLLIN), revents: 0)
      while Glibc.poll(&poll, 1, 0) == 1 { driven.runPending() }
      let core = thread.loop.core
      // For long: it looks once more soon after it was handed a timer.
      let soon = RunLoopClock.monotonic.now + 500_000_000_000
      #expect(eventually { core.withLock { core.state.pointee.sleep.until } > soon })
      let wakeUps = core.withLock { core.state.pointee.statistics.wakeUps }
      let status = inChild {
        for loop in [thread.loop, driven] {
          loop.perform {}
          _ = try? loop.schedule(after: .seconds(0)) { _ in }
        }
        var own = pollfd(fd: driven.pollDescriptor, events: Int16(POLLIN), revents: 0)
        guard own.fd == poll.fd, Glibc.poll(&own, 1, 10_000) == 1 else { return false }
        driven.runPending()
        driven.finish()
        thread.loop.finish()
        return true
      }
      #expect(status == 0)
      #expect(Glibc.poll(&poll, 1, 20) == 0)
      #expect(core.withLock { core.state.pointee.statistics.wakeUps } == wakeUps)
      far.fireDate = .distantPast
      later.fireDate = .distantPast
      #expect(eventually { !far.isValid })
      #expect(Glibc.poll(&poll, 1, 10_000) == 1)
      thread.stop()
    }
  }

  @Test func signalsOfAChildAreItsOwn() async {
    await #expect(processExitsWith: .success) {
      let loop = TrackedRunLoop(name: "forked")
      let calls = Counter()
      let source = TrackedRunLoopSource(signal: SIGURG) { _ in calls.up() }
      try loop.add(source, forMode: .default)
      loop.run(for: .milliseconds(1))
      var urgent = sigset_t()
      sigemptyset(&urgent)
      sigaddset(&urgent, SIGURG)
      pthread_sigmask(SIG_UNBLOCK, &urgent, nil)
      let status = inChild {
        // The first comes before the child has touched the loop.
        raise(SIGURG)
        for count in 1...2 {
          guard loop.run(mode: .default, for: .seconds(10), returnAfterSourceHandled: true) == .handledSource,
            calls.count == count
          else { return false }
          raise(SIGURG)
        }
        source.invalidate()
        return handlerIsDefault(of: SIGURG)
      }
      #expect(status == 0)
      #expect(loop.run(for: .milliseconds(5)) == .timedOut)
      #expect(calls.count == 0)
      raise(SIGURG)
      #expect(loop.run(mode: .default, for: .seconds(10), returnAfterSourceHandled: true) == .handledSource)
      #expect(calls.count == 1)
    }
  }

  @Test func aChildsChildToo() async {
    await #expect(processExitsWith: .success) {
      let loop = TrackedRunLoop(name: "forked")
      let source = TrackedRunLoopSource { _ in }
      try loop.add(source, forMode: .default)
      func isServed() -> Bool {
        source.signal()
        return loop.run(mode: .default, for: .seconds(10), returnAfterSourceHandled: true) == .handledSource
      }
      #expect(inChild { inChild { isServed() } == 0 && isServed() } == 0)
      #expect(isServed())
    }
  }

  @Test func anotherThreadHeldTheLock() async {
    await #expect(processExitsWith: .success) {
      let loop = TrackedRunLoop(name: "busy")
      let isOver = Atomic(false)
      let ended = Completion()
      let thread = RunLoopThread(name: "busy")
      thread.loop.perform {
        while !isOver.load(ordering: .acquiring) {
          loop.core.withLock { for _ in 0..<100 { _ = loop.core.state.pointee.sources.hasSources(in: 0) } }
          sched_yield()
        }
        ended.finish()
      }
      for _ in 0..<30 {
        let status = inChild {
          guard let timer = try? loop.schedule(after: .seconds(0), { _ in }) else { return false }
          loop.run(for: .seconds(10))
          return !timer.isValid
        }
        #expect(status == 0)
      }
      isOver.store(true, ordering: .releasing)
      #expect(ended.wait())
      thread.stop()
    }
  }

  /// A program that closes everything in its child: the numbers stand for its own files then.
  @Test func aChildThatClosedEverything() async {
    await #expect(processExitsWith: .success) {
      let loop = TrackedRunLoop(name: "daemon")
      loop.perform {}
      loop.run(for: .milliseconds(1))
      let status = inChild {
        for descriptor in Int32(3)..<100 { close(descriptor) }
        let pipes = (0..<10).map { _ in Pipe() }
        let ticks = Counter()
        _ = try? loop.schedule(after: .seconds(0.001)) { _ in ticks.up() }
        loop.run(for: .seconds(10))
        for pipe in pipes { pipe.send() }
        return ticks.count == 1 && pipes.allSatisfy { undead_loop_ready($0.reading, UNDEAD_LOOP_READABLE) != 0 }
      }
      #expect(status == 0)
    }
  }

  @Test func theProcessHasANumber() async {
    await #expect(processExitsWith: .success) {
      let number = undead_loop_process()
      #expect(number == undead_loop_process() && undead_loop_is_process(number))
      #expect(inChild { !undead_loop_is_process(number) && undead_loop_process() != number } == 0)
      #expect(undead_loop_is_process(number))
    }
  }
}

private func handlerIsDefault(of signal: Int32) -> Bool {
  var present = sigaction()
  sigaction(signal, nil, &present)
  return present.__sigaction_handler.sa_sigaction == nil
}
