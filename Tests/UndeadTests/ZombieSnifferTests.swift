import Synchronization
import Testing
import UndeadReport

@testable import Undead

/// The zombie sniffer in the process that asks. Dead objects are used, so nothing here may depend on what they answer.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ZombieSnifferTests {
  @Test func aCollectorSeesWhatItsBodyUses() {
    let collector = ZombieCollector()
    collector.run { poll(deadPoller()) }
    #expect(collector.obstacle == nil)
    let zombies = collector.zombies
    #expect(zombies.count == 1)
    #expect(zombies.first?.kind == "method")
    #expect(zombies.first?.type == "UndeadTests.Poller")
    #expect(zombies.first?.member == "Poller.tick()")
    for (backtrace, function) in [
      (zombies.first?.access, "poll"), (zombies.first?.deallocation, "deadPoller"),
      (zombies.first?.allocation, "makePoller"),
    ] {
      #expect(backtrace?.frames.contains { $0.symbol.contains(function) } ?? false, "\(function)")
    }
    #expect(!ZombieSniffer.isActive)
  }

  @Test func livingObjectsAreNoZombies() async {
    let collector = ZombieCollector()
    await collector.run {
      let poller = makePoller()
      await Task.yield()
      poll(Unmanaged.passUnretained(poller))
      withExtendedLifetime(poller) {}
    }
    #expect(collector.zombies == [])
  }

  @Test func errorsOfTheBodyAreThrown() {
    let collector = ZombieCollector()
    let body: () throws -> Void = { throw CancellationError() }
    #expect(throws: CancellationError.self) { try collector.run(body) }
    #expect(!ZombieSniffer.isActive)
  }

  @Test func theHandlerIsToldAndUsesAreCounted() throws {
    var options = ZombieSniffer.Options()
    (options.policy, options.repeats) = (.report, nil)
    let seen = Seen()
    ZombieSniffer.setHandler { seen.add($0) }
    defer { ZombieSniffer.setHandler(nil) }
    try ZombieSniffer.start(options)
    #expect(ZombieSniffer.isActive && ZombieSniffer.inactiveReason == nil)
    let before = ZombieSniffer.counters
    poll(deadPoller())
    let after = ZombieSniffer.counters
    ZombieSniffer.stop()
    #expect(seen.kinds.contains(1))
    #expect(after.zombies > before.zombies)
    #expect(after.deaths > before.deaths)
    #expect(ZombieSniffer.counters.kept == 0)
    #expect(!ZombieSniffer.isActive)
  }

  /// 0 stands for no limit in C alone.
  @Test func noLimitIsNil() {
    #expect([nil, 0, 1, 7].map(ZombieSniffer.limit) == [0, 1, 1, 7])
  }

  @Test func deniedTypesAndAnEmptyBudgetKeepNothing() throws {
    var options = ZombieSniffer.Options()
    (options.policy, options.allowedTypes, options.deniedTypes) = (.report, ["Poller"], ["Denied"])
    try ZombieSniffer.start(options)
    defer { ZombieSniffer.stop() }
    let first = ZombieSniffer.counters
    _ = deadPoller()
    let second = ZombieSniffer.counters
    #expect(second.deaths > first.deaths)
    _ = deadDenied()
    #expect(ZombieSniffer.counters.denied > second.denied)
    ZombieSniffer.resize(.init(bytes: 0, count: 0))
    #expect(ZombieSniffer.counters.kept == 0)
    #expect(ZombieSniffer.counters.evictedForBytes + ZombieSniffer.counters.evictedForCount > 0)
  }
}

/// What a handler got.
private final class Seen: Sendable {
  private let events = Mutex<[ZombieLog.Event]>([])
  func add(_ event: ZombieLog.Event) { events.withLock { $0.append(event) } }
  var kinds: [UInt32] { events.withLock { $0.map(\.kind) } }
}

private class Poller: @unchecked Sendable {
  var count = 1
  func tick() -> Int { count + 41 }
}

private final class Denied: Poller, @unchecked Sendable {
  override func tick() -> Int { 0 }
}

@inline(never) @_optimize(none) private func makePoller() -> Poller { Poller() }

@inline(never) @_optimize(none) private func deadPoller() -> Unmanaged<Poller> {
  let poller = makePoller()
  return Unmanaged.passUnretained(poller)
}

@inline(never) @_optimize(none) private func deadDenied() -> Unmanaged<Poller> {
  let poller: Poller = Denied()
  return Unmanaged.passUnretained(poller)
}

@inline(never) @_optimize(none) private func poll(_ poller: Unmanaged<Poller>) {
  _ = poller._withUnsafeGuaranteedRef { $0.tick() }
}
