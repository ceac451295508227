import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

/// A pipe that closes with its last reference.
final class Pipe: Sendable {
  let reading: Int32
  let writing: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    reading = ends[0]
    writing = ends[1]
  }

  func send() { _ = write(writing, "x", 1) }

  func receive() {
    var byte: UInt8 = 0
    _ = read(reading, &byte, 1)
  }

  deinit {
    close(reading)
    close(writing)
  }
}

/// A duplicate with a number that no other test gets when it is closed.
private func highDuplicate(_ descriptor: Int32) -> Int32 {
  let unlikely: Int32 = 900
  return fcntl(descriptor, F_DUPFD, unlikely)
}

@Suite(.serialized, .timeLimit(.minutes(20))) struct SourceTests {
  @Test func aReadableDescriptor() throws {
    let loop = TrackedRunLoop()
    let pipe = Pipe()
    let calls = Counter()
    let source = TrackedRunLoopSource(descriptor: pipe.reading, conditions: .readable) { _, conditions in
      #expect(conditions.contains(.readable))
      calls.up()
      pipe.receive()
    }
    #expect(try loop.add(source, forMode: .default))
    #expect(try !loop.add(source, forMode: .default))
    #expect(loop.run(for: .milliseconds(5)) == .timedOut)
    pipe.send()
    #expect(loop.run(mode: .default, before: .distantFuture) == .handledSource)
    #expect(calls.count == 1)
    pipe.send()
    #expect(loop.run(mode: .tracking, for: .milliseconds(5)) == .finished)
    #expect(calls.count == 1)
    try loop.add(source, forMode: .tracking)
    #expect(loop.run(mode: .tracking, before: .distantFuture) == .handledSource)
    loop.remove(source, forMode: .tracking)
    source.invalidate()
    source.invalidate()
    #expect(loop.run(for: .seconds(10)) == .finished)
    #expect(throws: RunLoopError.invalidated(item: "source")) { try loop.add(source, forMode: .default) }
  }

  @Test func anotherThreadsWriteWakesTheLoop() throws {
    let thread = RunLoopThread(name: "pipe")
    defer { thread.stop() }
    let pipe = Pipe()
    let calls = Counter()
    let source = TrackedRunLoopSource(descriptor: pipe.reading, conditions: .readable) { _, _ in
      pipe.receive()
      calls.up()
    }
    try thread.loop.add(source, forMode: .default)
    for count in 1...10 {
      pipe.send()
      #expect(eventually { calls.count == count })
    }
    source.invalidate()
  }

  @Test func unusableDescriptorsAreRefused() throws {
    let loop = TrackedRunLoop()
    let pipe = Pipe()
    let closed = highDuplicate(pipe.reading)
    close(closed)
    for descriptor in [closed, -1, 1_000_000] {
      let source = TrackedRunLoopSource(descriptor: descriptor, conditions: .readable) { _, _ in }
      #expect(throws: RunLoopError.unusableDescriptor(descriptor: descriptor, errno: EBADF)) {
        try loop.add(source, forMode: .default)
      }
    }
    let file = open("/proc/self/exe", O_RDONLY)
    defer { close(file) }
    let regular = TrackedRunLoopSource(descriptor: file, conditions: .readable) { _, _ in }
    #expect(throws: RunLoopError.unusableDescriptor(descriptor: file, errno: EPERM)) {
      try loop.add(regular, forMode: .default)
    }
    #expect(loop.run(for: .seconds(1)) == .finished)
  }

  @Test func aDescriptorClosedUnderItsSourceIsDropped() throws {
    let loop = TrackedRunLoop()
    let pipe = Pipe()
    let descriptor = highDuplicate(pipe.reading)
    let source = TrackedRunLoopSource(descriptor: descriptor, conditions: .readable) { _, _ in }
    try loop.add(source, forMode: .default)
    close(descriptor)
    loop.run(for: .milliseconds(1))
    #expect(!source.isValid)
    #expect(loop.run(for: .seconds(1)) == .finished)
  }

  @Test func signalledSourcesRunInTheirOrderAndCoalesce() throws {
    let test = TestLoop()
    let sources = [2, 1, 3].map { order in TrackedRunLoopSource(order: order) { _ in test.note("\(order)") } }
    for source in sources { try test.loop.add(source, forMode: .default) }
    for _ in 0..<10 { for source in sources { source.signal() } }
    #expect(test.loop.run(mode: .default, before: .distantFuture) == .handledSource)
    #expect(test.log == ["1@0.0", "2@0.0", "3@0.0"])
    let other = TestLoop()
    #expect(throws: RunLoopError.belongsToAnotherLoop(item: "source", loop: "test")) {
      try other.loop.add(sources[0], forMode: .default)
    }
  }

  @Test func aDrivenLoopMayAlsoBeRun() throws {
    let queue = DispatchQueue(label: "driver")
    let loop = TrackedRunLoop(name: "driven and run")
    let fired = Counter()
    let timer = try loop.schedule(every: .seconds(0.001)) { _ in fired.up() }
    let driver = loop.drive(on: queue)
    #expect(eventually { fired.count > 2 })
    let before = queue.sync {
      // All events of the driver come to this run.
      loop.run(for: .milliseconds(10))
      #expect(loop.core.withLock { loop.core.state.pointee.poller.armed } != .max)
      return fired.count
    }
    #expect(eventually { fired.count > before })
    timer.invalidate()
    driver.cancel()
  }

  @Test func thePollDescriptorTellsOfWork() throws {
    let loop = TrackedRunLoop()
    var poll = pollfd(fd: loop.pollDescriptor, events: Int16(POLLIN), revents: 0)
    func isReady(within milliseconds: Int32) -> Bool { Glibc.poll(&poll, 1, milliseconds) == 1 }
    #expect(!isReady(within: 0))
    let timer = try loop.schedule(after: .seconds(0.005)) { _ in }
    #expect(isReady(within: 10_000))
    loop.runPending()
    while timer.isValid { if isReady(within: 10_000) { loop.runPending() } }
    while isReady(within: 0) { loop.runPending() }
    loop.perform {}
    #expect(isReady(within: 10_000))
    loop.runPending()
    #expect(!isReady(within: 0))
  }
}
