import Synchronization
import UndeadReport

/// Collects the uses of dead objects while a body runs: what assertions are made of.
package final class ZombieCollector: Sendable {
  @TaskLocal static var current: ZombieCollector?

  private static let limit = 200

  private struct State {
    var events: [ZombieLog.Event] = []
    var obstacle: String?
  }

  private let state = Mutex(State())
  /// Why nothing can be seen; nil if it can.
  package var obstacle: String? { state.withLock { $0.obstacle } }

  /// Makes a collector for one body.
  package init() {}

  /// Runs the body; uses on its thread, in its tasks, and on threads that belong to no other collector are collected.
  package func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    begin()
    defer { end() }
    var result: Swift.Result<Result, Failure>?
    Self.$current.withValue(self) {
      do throws(Failure) { result = .success(try body()) } catch { result = .failure(error) }
    }
    guard let result else { preconditionFailure("withValue runs its operation") }
    return try result.get()
  }

  /// Runs the asynchronous body; as the synchronous one.
  package func run<Result, Failure: Error>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    begin()
    defer { end() }
    var result: Swift.Result<Result, Failure>?
    await Self.$current.withValue(self) {
      do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
    }
    guard let result else { preconditionFailure("withValue runs its operation") }
    return try result.get()
  }

  private func begin() {
    let obstacle = ZombieObservers.shared.begin(self)
    state.withLock { $0.obstacle = obstacle }
  }

  private func end() {
    if obstacle == nil { ZombieObservers.shared.end(self) }
  }

  func add(_ event: ZombieLog.Event) {
    state.withLock { state in
      if state.events.count < Self.limit { state.events.append(event) }
    }
  }

  /// The uses so far, grouped and with names.
  package var zombies: [Zombie] {
    let events = state.withLock { state in
      // The instrument counts all uses of a place; here each one is an event of its own.
      state.events.map { event in
        var event = event
        event.count = 1
        return event
      }
    }
    return events.isEmpty ? [] : ZombieDescriber.describe(events)
  }
}
