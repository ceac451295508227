// swift-format-ignore-file: AmbiguousTrailingClosureOverload
import CUndead
import UndeadReport
import UndeadSystem

/// Collects the uses of dead objects while a body runs: what assertions are made of.
package final class ZombieCollector: Sendable {
  @TaskLocal static var current: ZombieCollector?

  /// More dead objects than anybody looks at.
  private static let limit = 100

  /// A dead object is known by its address and where it died: the address may be used again.
  private struct Object: Hashable {
    var address: UInt64
    var death: [UInt64]
  }

  private struct State {
    /// The first use of each object: what follows it is the same mistake.
    var events: [ZombieLog.Event] = []
    var positions: [Object: Int] = [:]
    var obstacle: String?
  }

  private let state = Mutex(State())
  private let session: DetectionSession
  /// Why nothing can be seen; nil if it can.
  package var obstacle: String? { state.withLock { $0.obstacle } }

  /// Makes a collector for one body.
  package init(in session: DetectionSession = .process) {
    self.session = session
  }

  /// Runs the body; uses on its thread, in its tasks, and on threads that belong to no other collector are collected.
  package func run<Output, Failure: Error>(_ body: () throws(Failure) -> Output) throws(Failure) -> Output {
    begin()
    defer { end() }
    var result: Result<Output, Failure>?
    Self.$current.withValue(self) { result = Result { () throws(Failure) in try body() } }
    guard let result else { preconditionFailure("withValue runs its operation") }
    return try result.get()
  }

  /// Runs the asynchronous body; as the synchronous one.
  package nonisolated(nonsending) func run<Output, Failure: Error>(
    _ body: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    begin()
    defer { end() }
    var result: Result<Output, Failure>?
    await Self.$current.withValue(self) { result = await Result(of: body) }
    guard let result else { preconditionFailure("withValue runs its operation") }
    return try result.get()
  }

  private func begin() {
    let obstacle = session.zombies.begin(self)
    state.withLock { $0.obstacle = obstacle }
  }

  private func end() {
    guard obstacle == nil else { return }
    undead_zombies_settle()
    session.zombies.end(self)
  }

  func add(_ event: ZombieLog.Event) {
    state.withLock { state in
      let object = Object(address: event.object, death: event.deallocation)
      if let position = state.positions[object] {
        state.events[position].count += 1
      } else if state.events.count < Self.limit {
        state.positions[object] = state.events.count
        state.events.append(event)
        // The instrument counts all uses at a place; here those of the object are counted.
        state.events[state.events.count - 1].count = 1
      }
    }
  }

  /// The dead objects that were used, each by its first use, grouped and with names.
  package var zombies: [Zombie] {
    let events = state.withLock { state in
      state.events.map { event in
        var event = event
        if event.count > 1 { event.details = "the object was used \(event.count) times" }
        event.count = 1
        return event
      }
    }
    return events.isEmpty ? [] : ZombieDescriber.describe(events)
  }
}
