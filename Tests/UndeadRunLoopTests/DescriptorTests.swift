import CUndeadRunLoop
import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

/// The two ends of a connection; both close with the last reference.
private final class Connection: Sendable {
  let near: Int32
  let far: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    near = ends[0]
    far = ends[1]
  }

  deinit {
    close(near)
    close(far)
  }
}

private func send(_ bytes: Int, to descriptor: Int32) {
  _ = write(descriptor, [UInt8](repeating: 0, count: bytes), bytes)
}

private func receive(_ bytes: Int, from descriptor: Int32) {
  var buffer = [UInt8](repeating: 0, count: bytes)
  _ = read(descriptor, &buffer, bytes)
}

/// What happened, in the order in which it did.
private final class Events: Sendable {
  private let kept = Locked<[String]>([])

  func note(_ what: String) { kept.withLock { $0.append(what) } }

  func take() -> [String] {
    kept.withLock { kept in
      defer { kept = [] }
      return kept
    }
  }
}

/// Descriptors that have several sources, or that come and go under them.
@Suite(.timeLimit(.minutes(5))) struct DescriptorTests {
  private let loop = TrackedRunLoop(name: "descriptors")
  private let events = Events()

  private func source(
    _ name: String, _ descriptor: Int32, _ conditions: TrackedRunLoopSource.Conditions,
    mode: TrackedRunLoop.Mode = .default,
    _ action: @escaping @Sendable () -> Void = {}
  ) throws -> TrackedRunLoopSource {
    let source = TrackedRunLoopSource(descriptor: descriptor, conditions: conditions) { [events] _, seen in
      events.note(name + (seen.contains(.readable) ? " r" : "") + (seen.contains(.writable) ? " w" : ""))
      action()
    }
    #expect(try loop.add(source, forMode: mode))
    return source
  }

  /// One pass over what is there.
  private func pass(_ mode: TrackedRunLoop.Mode = .default) -> [String] {
    loop.run(mode: mode, for: .zero)
    return events.take().sorted()
  }

  @Test func aReaderAndAWriter() throws {
    let pair = Connection()
    let writer = try source("writer", pair.near, .writable)
    let reader = try source("reader", pair.near, .readable) { receive(1, from: pair.near) }
    #expect(pass() == ["writer w"])
    send(1, to: pair.far)
    #expect(pass() == ["reader r", "writer w"])
    writer.invalidate()
    #expect(pass().isEmpty)
    send(1, to: pair.far)
    #expect(pass() == ["reader r"])
    reader.invalidate()
    send(1, to: pair.far)
    #expect(pass().isEmpty)
    #expect(loop.run(for: .seconds(10)) == .finished)
  }

  @Test func aReaderAndAWriterInTwoModes() throws {
    let pair = Connection()
    let reader = try source("reader", pair.near, .readable, mode: .default)
    let writer = try source("writer", pair.near, .writable, mode: .tracking)
    send(1, to: pair.far)
    for _ in 0..<2 {
      #expect(pass(.default) == ["reader r"])
      #expect(pass(.tracking) == ["writer w"])
    }
    try loop.add(writer, forMode: .default)
    loop.remove(reader, forMode: .default)
    #expect(pass(.default) == ["writer w"])
    #expect(loop.contains(writer, forMode: .default) && !loop.contains(reader, forMode: .default))
  }

  @Test func oneReaderTakesWhatIsThere() throws {
    let pair = Connection()
    // Descriptors that block: a reader that is called for nothing would never return.
    _ = try source("first", pair.near, .readable) { receive(1, from: pair.near) }
    _ = try source("second", pair.near, .readable) { receive(1, from: pair.near) }
    send(1, to: pair.far)
    #expect(pass() == ["first r"])
    send(2, to: pair.far)
    #expect(pass() == ["first r", "second r"])
    #expect(pass().isEmpty)
  }

  @Test func aDuplicateIsADescriptorOfItsOwn() throws {
    let pair = Connection()
    let copy = dup(pair.near)
    defer { close(copy) }
    let original = try source("original", pair.near, .readable)
    let duplicate = try source("duplicate", copy, .readable)
    send(1, to: pair.far)
    #expect(pass() == ["duplicate r", "original r"])
    original.invalidate()
    #expect(pass() == ["duplicate r"])
    duplicate.invalidate()
    #expect(pass().isEmpty)
  }

  @Test func aHangUpIsToldToAllUntilTheyAreGone() throws {
    let pair = Connection()
    let own = dup(pair.near)
    let silent = try source("silent", own, [])
    let reader = try source("reader", own, .readable)
    #expect(pass().isEmpty)
    shutdown(pair.far, Int32(SHUT_RDWR))
    for _ in 0..<3 { #expect(pass() == ["reader r", "silent"]) }
    reader.invalidate()
    silent.invalidate()
    close(own)
    #expect(loop.run(for: .seconds(10)) == .finished)
  }

  @Test func aRefusalSaysWhatIsTheMatter() throws {
    let pair = Connection()
    let reader = try source("reader", pair.near, .readable)
    #expect(RunLoopError.unusableDescriptor(descriptor: 9, errno: EBADF).description.contains("it is closed"))
    #expect(!RunLoopError.unusableDescriptor(descriptor: 9, errno: EMFILE).description.contains("it is closed"))
    let own = TrackedRunLoopSource(descriptor: loop.pollDescriptor, conditions: .readable) { _, _ in }
    #expect(throws: RunLoopError.self) { try loop.add(own, forMode: .default) }
    // What was there is not touched by what was refused.
    send(1, to: pair.far)
    #expect(pass() == ["reader r"])
    reader.invalidate()
  }

  // MARK: - Numbers that are used again

  @Test func anotherFileUnderTheSameNumber() throws {
    let first = Connection()
    let second = Connection()
    let number = fcntl(first.near, F_DUPFD, 700)
    let old = try source("old", number, [.readable, .writable])
    #expect(pass() == ["old w"])
    #expect(dup2(second.near, number) == number)
    // The source was of the other file; the new one is served at once.
    let new = try source("new", number, .readable)
    send(1, to: second.far)
    send(1, to: first.far)
    #expect(pass().allSatisfy { $0 == "new r" })
    #expect(!old.isValid)
    #expect(pass() == ["new r"])
    // What only the old one wanted is not polled any more.
    #expect(loop.core.withLock { loop.core.state.pointee.polled.conditions(of: number) } & UNDEAD_LOOP_WRITABLE == 0)
    new.invalidate()
    close(number)
    #expect(loop.run(for: .seconds(10)) == .finished)
  }

  @Test(arguments: [false, true]) func aSourceOfAClosedFileIsDropped(isPolled: Bool) throws {
    let first = Connection()
    let second = Connection()
    let number = fcntl(first.near, F_DUPFD, isPolled ? 720 : 730)
    let old = try source("old", number, .readable)
    if isPolled { #expect(pass().isEmpty) }
    #expect(dup2(second.near, number) == number)
    send(1, to: second.far)
    #expect(pass().isEmpty)
    #expect(!old.isValid)
    #expect(loop.core.withLock { loop.core.state.pointee.polled.conditions(of: number) } == 0)
    close(number)
  }

  /// A pass looks at a few; those that are gone are none of them.
  @Test func descriptorsThatAreGoneDoNotDelayTheLookAtOthers() throws {
    let pairs = (0..<40).map { _ in Connection() }
    let sources = try pairs.map { try source("gone", $0.near, .readable) }
    #expect(pass().isEmpty)
    for source in sources { source.invalidate() }
    #expect(pass().isEmpty)
    let pair = Connection()
    let kept = try source("kept", pair.near, .readable)
    let checked = loop.core.withLock { loop.core.state.pointee.sources.takeDescriptorsToCheck(atMost: 16) }
    #expect(checked == [pair.near])
    kept.invalidate()
  }

  /// The kernel goes on to report a file that a duplicate keeps open, and there is no number to take it back by.
  @Test func aFileThatOutlivesItsDescriptorDoesNotKeepTheLoopBusy() throws {
    let pair = Connection()
    let other = Connection()
    let number = fcntl(pair.near, F_DUPFD, 740)
    let kept = try source("kept", other.near, .readable) { receive(1, from: other.near) }
    let closed = try source("closed", number, .readable)
    send(1, to: pair.far)
    #expect(pass() == ["closed r"])
    close(number)
    closed.invalidate()
    let before = loop.core.withLock { loop.core.state.pointee.statistics.passes }
    #expect(loop.run(for: .milliseconds(30)) == .timedOut)
    let passes = loop.core.withLock { loop.core.state.pointee.statistics.passes } - before
    #expect(passes < 20)
    // The others are still there, and so is who polls the loop.
    send(1, to: other.far)
    #expect(pass() == ["kept r"])
    kept.invalidate()
  }

  @Test func whoPollsTheLoopDoesSoWhenItsPollIsOpenedAnew() throws {
    let pair = Connection()
    let other = Connection()
    var poll = pollfd(fd: loop.pollDescriptor, events: Int16(POLLIN), revents: 0)
    let number = fcntl(pair.near, F_DUPFD, 760)
    let closed = try source("closed", number, .readable)
    _ = try source("kept", other.near, .readable) { receive(1, from: other.near) }
    loop.runPending()
    send(1, to: pair.far)
    #expect(Glibc.poll(&poll, 1, 10_000) == 1)
    close(number)
    closed.invalidate()
    loop.runPending()
    _ = events.take()
    while Glibc.poll(&poll, 1, 0) == 1 { loop.runPending() }
    send(1, to: other.far)
    #expect(Glibc.poll(&poll, 1, 10_000) == 1)
    loop.runPending()
    #expect(events.take() == ["kept r"])
    loop.perform { [events] in events.note("performed") }
    #expect(Glibc.poll(&poll, 1, 10_000) == 1)
    loop.runPending()
    #expect(events.take() == ["performed"])
  }

  @Test func closingBeforeEndingKeepsNothing() throws {
    let kept = Connection()
    _ = try source("kept", kept.near, .readable) { receive(1, from: kept.near) }
    for _ in 0..<1000 {
      let pipe = Pipe()
      let number = dup(pipe.reading)
      let source = TrackedRunLoopSource(descriptor: number, conditions: .readable) { _, _ in }
      try loop.add(source, forMode: .default)
      loop.run(for: .zero)
      close(number)
      source.invalidate()
    }
    #expect(loop.core.withLock { loop.core.state.pointee.polled.lostCount } < 100)
    send(1, to: kept.far)
    #expect(pass() == ["kept r"])
  }

  /// The number of this test's own process: others run beside it.
  @Test func loopsGiveTheirDescriptorsBack() async {
    await #expect(processExitsWith: .success) {
      func openDescriptors() -> Int { (0..<4000).count { fcntl($0, F_GETFD) >= 0 } }
      let before = openDescriptors()
      do {
        let loops = (0..<100).map { _ in TrackedRunLoop() }
        for loop in loops {
          loop.perform {}
          loop.run(for: .zero)
          #expect(loop.pollDescriptor >= 0)
        }
        #expect(openDescriptors() >= before + 200)
      }
      #expect(openDescriptors() < before + 50)
      let loop = TrackedRunLoop()
      _ = try loop.schedule(after: .seconds(0)) { _ in }
      #expect(loop.run(for: .seconds(10)) == .finished)
    }
  }

  // MARK: - Changes while events are dealt with

  @Test func aSourceThatAnotherOneEndsIsNotCalled() throws {
    let pairs = (0..<2).map { _ in Connection() }
    let sources = Locked<[TrackedRunLoopSource]>([])
    for index in 0..<2 {
      let source = try source("\(index)", pairs[index].near, .readable) {
        for source in sources.withLock({ $0 }) { source.invalidate() }
      }
      sources.withLock { $0.append(source) }
      send(1, to: pairs[index].far)
    }
    #expect(pass().count == 1)
    #expect(pass().isEmpty)
    sources.withLock { $0 = [] }
  }

  /// The event that both are notified of was the old source's; the new one would wait for bytes that are gone.
  @Test func aNewSourceIsNotCalledForAnOldEvent() throws {
    let pairs = (0..<2).map { _ in Connection() }
    let replaced = Locked<[TrackedRunLoopSource]>([])
    let loop = loop
    let events = events
    let replace: @Sendable (Int) -> Void = { [connections = pairs] other in
      receive(1, from: connections[1 - other].near)
      let olds = replaced.withLock { $0 }
      guard olds[other].isValid else { return }
      receive(1, from: connections[other].near)
      let new = TrackedRunLoopSource(descriptor: connections[other].near, conditions: .readable) { _, _ in
        events.note("new")
        receive(1, from: connections[other].near)
      }
      // Added before the old one goes, so that the descriptor's registration stays.
      _ = try? loop.add(new, forMode: .default)
      olds[other].invalidate()
      replaced.withLock { $0.append(new) }
    }
    for index in 0..<2 {
      let made = try source("old", pairs[index].near, .readable) { replace(1 - index) }
      replaced.withLock { $0.append(made) }
      send(1, to: pairs[index].far)
    }
    #expect(pass() == ["old r"])
    for pair in pairs { send(1, to: pair.far) }
    #expect(pass().contains("new"))
    for source in replaced.withLock({ $0 }) { source.invalidate() }
    replaced.withLock { $0 = [] }
  }

  @Test func whatANestedRunDealtWithIsOver() throws {
    let pairs = (0..<2).map { _ in Connection() }
    let loop = loop
    for index in 0..<2 {
      let near = pairs[index].near
      _ = try source("\(index)", near, .readable) {
        receive(1, from: near)
        loop.run(for: .zero)
      }
      send(1, to: pairs[index].far)
    }
    // Reading blocks: a second call for the same byte would never end.
    #expect(pass() == ["0 r", "1 r"])
  }
}
