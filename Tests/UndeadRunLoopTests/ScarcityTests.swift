import Dispatch
import Glibc
import Testing

@testable import UndeadRunLoop

/// Loops of a process that has no descriptors left. Each test is a process of its own.
@Suite(.timeLimit(.minutes(5))) struct ScarcityTests {
  /// Takes all descriptors that the process may have.
  private static func takeAll() -> [Int32] {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 256
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var taken: [Int32] = []
    while true {
      let descriptor = dup(STDERR_FILENO)
      if descriptor < 0 { return taken }
      taken.append(descriptor)
    }
  }

  @Test func aLoopWithoutDescriptorsWorksAndRecovers() async {
    await #expect(processExitsWith: .success) {
      let taken = Self.takeAll()
      let loop = TrackedRunLoop()
      let fired = Counter()
      try loop.schedule(every: .seconds(0.002)) { timer in
        fired.up()
        if timer.firings == 3 { timer.invalidate() }
      }
      let before = clock()
      #expect(loop.run(for: .seconds(20)) == .finished)
      #expect(fired.count == 3)
      #expect(!loop.core.withLock { loop.core.state.pointee.poller.isOpen })
      // It sleeps: a loop that only looked again and again would take a processor.
      try loop.schedule(after: .seconds(0.2)) { _ in fired.up() }
      loop.run()
      #expect(clock() - before < CLOCKS_PER_SEC / 10)
      let helper = RunLoopThread(name: "helper")
      try loop.schedule(after: .seconds(1000)) { _ in }
      helper.loop.perform { loop.perform { loop.stop() } }
      #expect(loop.run(for: nil) == .stopped)
      // While it runs, there are some again.
      helper.loop.perform {
        for descriptor in taken { close(descriptor) }
        while !loop.core.withLock({ loop.core.state.pointee.poller.isOpen }) { pause(milliseconds: 1) }
        loop.stop()
      }
      #expect(loop.run(for: nil) == .stopped)
      helper.stop()
    }
  }

  @Test func aDriverWithoutDescriptorsLooksByTheClock() async {
    await #expect(processExitsWith: .success) {
      // Dispatch opens its own when it first needs them.
      let warm = DispatchSource.makeTimerSource(queue: .global())
      warm.schedule(deadline: .now())
      let isWarm = Completion()
      warm.setEventHandler { isWarm.finish() }
      warm.activate()
      _ = isWarm.wait()
      let taken = Self.takeAll()
      let loop = TrackedRunLoop()
      #expect(loop.pollDescriptor == -1)
      let driver = loop.drive(on: DispatchQueue(label: "driver"))
      let done = Counter()
      try loop.schedule(after: .seconds(0.01)) { _ in done.up() }
      loop.perform { done.up() }
      #expect(eventually { done.count == 2 })
      driver.cancel()
      #expect(eventually { driver.isCancelled })
      for descriptor in taken { close(descriptor) }
    }
  }

  /// Nobody has asked for the main loop or run it: its thread is the main one all the same, and does not wait for itself.
  @Test func theMainThreadDoesNotWaitForItself() async {
    await #expect(processExitsWith: .success) {
      await MainActor.run {
        #expect(TrackedRunLoop.main.isCurrentThread)
        let ran = Counter()
        try? TrackedRunLoop.main.perform(waitUntilDone: true) { ran.up() }
        #expect(ran.count == 1)
      }
      #expect(!TrackedRunLoop.main.isCurrentThread)
    }
  }
}
