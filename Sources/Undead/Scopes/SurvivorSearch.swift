import CUndead
import UndeadReport

/// Finds out why objects that should be gone are alive.
struct SurvivorSearch: Sendable {
  /// What was found: a leak for each object, nil for one that has gone meanwhile.
  struct Result: Sendable {
    var leaks: [Leak?] = []
    var notes: [String] = []
  }

  private let objects: [ObjectHandle]
  private let scope: String
  private let frames: [UInt]
  private let session: DetectionSession

  /// - Parameters:
  ///   - scope: name of what the objects outlived.
  ///   - frames: where that ended: return addresses.
  ///   - session: the one whose watchlist the objects are on.
  init(_ objects: [ObjectHandle], scope: String, frames: [UInt], in session: DetectionSession) {
    self.session = session
    self.objects = objects
    self.scope = scope
    self.frames = frames
  }

  /// Searches; the objects must be on the watchlist. Without recording only the types are known.
  func run() -> Result {
    guard session.instrument.isActive() else { return withoutSearch(LeakDetector.inactiveReason) }
    return found(Swift.Result { () throws(UndeadError) in try LeakSearch.run(session.instrument, evaluate) })
  }

  /// The same while the task is suspended.
  nonisolated(nonsending) func run() async -> Result {
    guard session.instrument.isActive() else { return withoutSearch(LeakDetector.inactiveReason) }
    return found(
      await Swift.Result(of: { () async throws(UndeadError) in try await LeakSearch.run(session.instrument, evaluate) })
    )
  }

  private func found(_ result: Swift.Result<Result, UndeadError>) -> Result {
    switch result {
    case .success(let result): result
    case .failure(let error): withoutSearch(error.description)
    }
  }

  private func withoutSearch(_ reason: String?) -> Result {
    Result(
      leaks: objects.map { $0.isAlive ? unexplained($0) : nil },
      notes: ["who holds the objects was not looked for: \(reason ?? "recording is off")"])
  }

  @Sendable private func evaluate(_ snapshot: borrowing Snapshot) -> Result {
    let selection = LeakSelection(copy snapshot, reported: session.reported)
    var nodes: [UInt64: Int] = [:]
    for (index, node) in snapshot.nodes.enumerated() { nodes[node.address] = index }
    var result = Result()
    for object in objects {
      guard object.isAlive else {
        result.leaks.append(nil)
        continue
      }
      let found = nodes[object.address].flatMap { selection.explanation(of: $0) }
      result.leaks.append(found ?? unexplained(object))
      if found == nil {
        result.notes.append("a \(object.type) was allocated before recording began: who holds it is not known")
      }
    }
    return result
  }

  private func unexplained(_ object: ObjectHandle) -> Leak {
    Leak(
      signature: "", kind: .abandoned, totalBytes: 0,
      objects: [LeakedObject(type: object.type, address: "0x" + String(object.address, radix: 16), size: 0)],
      scope: Leak.Scope(name: scope, backtrace: Backtrace()))
  }
}
