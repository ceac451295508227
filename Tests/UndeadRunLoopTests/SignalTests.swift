import CUndeadRunLoop
import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

func threadNumber() -> UInt { undead_loop_thread() }

private func handler(of signal: Int32) -> sigaction {
  var present = sigaction()
  sigaction(signal, nil, &present)
  return present
}

private func address(_ action: sigaction) -> UInt {
  unsafeBitCast(action.__sigaction_handler.sa_sigaction, to: UInt.self)
}

private let informedCalls = Atomic(0)

/// Signals as sources. They are the process's: one test after the other.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SignalTests {
  @Test func anyNumberOfListeners() throws {
    let loop = TrackedRunLoop()
    let calls = Counter()
    let count = 40
    let sources = (0..<count).map { _ in TrackedRunLoopSource(signal: SIGURG) { _ in calls.up() } }
    for source in sources { try loop.add(source, forMode: .default) }
    kill(getpid(), SIGURG)
    #expect(eventually { loop.run(for: .milliseconds(1)) == .timedOut && calls.count == count })
    for source in sources { source.invalidate() }
  }

  @Test func thePreviousHandlerIsRestored() throws {
    var informed = sigaction()
    informed.sa_flags = SA_SIGINFO | SA_NODEFER
    informed.__sigaction_handler.sa_sigaction = { _, info, _ in
      if info?.pointee.si_signo == SIGURG { informedCalls.add(1, ordering: .relaxed) }
    }
    var before = sigaction()
    sigaction(SIGURG, &informed, &before)
    defer { sigaction(SIGURG, &before, nil) }
    let loop = TrackedRunLoop()
    for _ in 0..<2 {
      let sources = (0..<2).map { _ in TrackedRunLoopSource(signal: SIGURG) { _ in } }
      for source in sources { try loop.add(source, forMode: .default) }
      #expect(address(handler(of: SIGURG)) != address(informed))
      sources[0].invalidate()
      #expect(address(handler(of: SIGURG)) != address(informed))
      loop.remove(sources[1], forMode: .default)
      #expect(address(handler(of: SIGURG)) == address(informed))
      #expect(handler(of: SIGURG).sa_flags & SA_SIGINFO != 0 && handler(of: SIGURG).sa_flags & SA_NODEFER != 0)
    }
    kill(getpid(), SIGURG)
    #expect(eventually { informedCalls.load(ordering: .relaxed) == 1 })
  }

  @Test func aHandlerThatWasPutInItsPlaceStays() throws {
    let before = handler(of: SIGURG)
    let loop = TrackedRunLoop()
    let source = TrackedRunLoopSource(signal: SIGURG) { _ in }
    try loop.add(source, forMode: .default)
    signal(SIGURG) { _ in }
    let present = handler(of: SIGURG)
    source.invalidate()
    #expect(address(handler(of: SIGURG)) == address(present))
    var restored = before
    sigaction(SIGURG, &restored, nil)
  }

  /// They are raised again and again when a handler returns: a crash would become a hang.
  @Test(arguments: [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, 0, -1, SIGKILL, SIGSTOP, 32, 33, 65, .max, .min])
  func unusableSignals(signal: Int32) throws {
    let loop = TrackedRunLoop()
    let source = TrackedRunLoopSource(signal: signal) { _ in }
    #expect(throws: RunLoopError.unusableSignal(signal: signal, errno: EINVAL)) {
      try loop.add(source, forMode: .default)
    }
    #expect(source.isValid && !loop.contains(source, forMode: .default))
  }

  /// A handler may be about to write to it: nobody else gets its number.
  @Test func aDescriptorIsKeptForTheNext() {
    let first = undead_loop_signal_open(SIGURG)
    undead_loop_signal_close(SIGURG, first)
    #expect(fcntl(first, F_GETFD) >= 0)
    let second = undead_loop_signal_open(SIGURG)
    #expect(first == second)
    undead_loop_signal_close(SIGURG, second)
    undead_loop_signal_close(SIGURG, second)
  }

  @Test func aSignalBeforeASourceIsNotToldToIt() throws {
    let loop = TrackedRunLoop()
    let calls = Counter()
    let first = TrackedRunLoopSource(signal: SIGURG) { _ in }
    try loop.add(first, forMode: .default)
    raise(SIGURG)
    first.invalidate()
    let second = TrackedRunLoopSource(signal: SIGURG) { _ in calls.up() }
    try loop.add(second, forMode: .default)
    loop.run(for: .milliseconds(2))
    #expect(calls.count == 0)
    second.invalidate()
  }

  @Test func listenersComeAndGoWhileSignalsArrive() throws {
    let isOver = Atomic(false)
    let sender = Completion()
    let thread = RunLoopThread(name: "sender")
    defer { thread.stop() }
    // Ours as long as anybody listens.
    let keeper = undead_loop_signal_open(SIGURG)
    thread.loop.perform {
      while !isOver.load(ordering: .acquiring) { raise(SIGURG) }
      sender.finish()
    }
    let loop = TrackedRunLoop()
    let end = RunLoopClock.monotonic.now + 200_000_000
    while RunLoopClock.monotonic.now < end {
      let source = TrackedRunLoopSource(signal: SIGURG) { _ in }
      try loop.add(source, forMode: .default)
      source.invalidate()
      // It takes the lowest number that is free; somebody's eight bytes in it would be the handler's.
      let other = undead_loop_wake_create()
      sched_yield()
      var value: UInt64 = 0
      #expect(read(other, &value, 8) < 0)
      close(other)
    }
    isOver.store(true, ordering: .releasing)
    #expect(sender.wait())
    undead_loop_signal_close(SIGURG, keeper)
  }
}
