import CUndead
import UndeadReport

/// An object that must be gone at some later moment. Never keeps it alive.
///
/// An object that is being deallocated counts as gone.
package struct TrackedObject: Sendable {
  private let handle: ObjectHandle

  package init(_ object: AnyObject) {
    handle = ObjectHandle(object)
  }

  /// Identifies the object as long as it is tracked.
  var identity: HiddenAddress { handle.identity }

  /// Module-qualified type name.
  package var type: String { handle.type }

  /// True if it is this object.
  package func `is`(_ object: AnyObject) -> Bool {
    UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())) == handle.address
  }

  /// True until the object's deinitialisation begins.
  package var isAlive: Bool { handle.isAlive }

  /// Waits until the objects are gone, and finds out what holds the others.
  ///
  /// Never scans if all of them are gone. While it waits it runs the run loop of the calling thread.
  ///
  /// - Parameters:
  ///   - name: what reports call the scope of the objects, such as the name of a test.
  ///   - grace: how long the objects may take to go.
  ///   - session: the one that asks.
  package static func check(
    _ objects: [TrackedObject], name: String, grace: Duration = .seconds(1), in session: DetectionSession = .process
  ) -> TrackingResult {
    if Patience.wait(grace, until: { !objects.contains(where: \.isAlive) }) { return TrackingResult() }
    let survivors = Survivors(objects, name, session)
    defer { survivors.forget() }
    undead_clear_stack()
    return survivors.result(survivors.search.run())
  }

  /// The same, letting other tasks run while it waits.
  package static nonisolated(nonsending) func check(
    _ objects: [TrackedObject], name: String, grace: Duration = .seconds(1), in session: DetectionSession = .process
  ) async -> TrackingResult {
    if await Patience.wait(grace, until: { !objects.contains(where: \.isAlive) }) { return TrackingResult() }
    let survivors = Survivors(objects, name, session)
    defer { survivors.forget() }
    return survivors.result(await survivors.search.run())
  }

  /// Those that are alive when the time is up, on the watchlist while they are looked for.
  private struct Survivors {
    private let indices: [Int]
    private let handles: [ObjectHandle]
    private let session: DetectionSession
    let search: SurvivorSearch

    init(_ objects: [TrackedObject], _ name: String, _ session: DetectionSession) {
      self.session = session
      indices = objects.indices.filter { objects[$0].isAlive }
      handles = indices.map { objects[$0].handle }
      search = SurvivorSearch(handles, scope: name, frames: [], in: session)
      let now = ContinuousClock.now
      session.watchlist.add(
        handles.map { Watchlist.Entry(object: $0, scope: name, frames: [], end: now, seen: now, isTemporary: true) })
    }

    func forget() {
      session.watchlist.removeTemporary(handles)
    }

    func result(_ found: SurvivorSearch.Result) -> TrackingResult {
      var result = TrackingResult()
      result.notes = found.notes
      for (index, leak) in zip(indices, found.leaks) {
        if let leak { result.survivors.append(TrackingResult.Survivor(index: index, leak: leak)) }
      }
      return result
    }
  }
}
