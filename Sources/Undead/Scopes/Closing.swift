import UndeadReport

/// A scope between its end and the result: which of its objects are still alive, and when the others were last seen.
struct Closing {
  private let name: String
  private let session: DetectionSession
  private let end = ContinuousClock.now
  private var alive: [ObjectHandle]
  private var released: [OwnerScope.LateRelease] = []
  private var lastLook: ContinuousClock.Instant
  /// Where the scope ended: return addresses.
  var frames: [UInt] = []

  init(_ name: String, _ objects: [ObjectHandle], in session: DetectionSession) {
    self.name = name
    self.session = session
    alive = objects.filter(\.isAlive)
    lastLook = end
  }

  /// True if nothing is alive.
  var isDone: Bool { alive.isEmpty }

  /// Looks again; true if nothing is alive any more.
  mutating func look() -> Bool {
    let delay = lastLook - end
    released += alive.filter { !$0.isAlive }.map { OwnerScope.LateRelease(type: $0.type, delay: delay) }
    alive.removeAll { !$0.isAlive }
    lastLook = ContinuousClock.now
    return isDone
  }

  /// Puts what is alive on the watchlist; the search for who holds it, nil if nothing is.
  mutating func survivorSearch() -> SurvivorSearch? {
    guard !look() else { return nil }
    session.watchlist.add(
      alive.map { Watchlist.Entry(object: $0, scope: name, frames: frames, end: end, seen: lastLook) })
    return SurvivorSearch(alive, scope: name, frames: frames, in: session)
  }

  func outcome(_ search: SurvivorSearch.Result?) -> OwnerScope.Outcome {
    var outcome = OwnerScope.Outcome()
    outcome.releasedLate = released
    guard let search else { return outcome }
    outcome.leaks = search.leaks.compactMap { $0 }
    outcome.notes = search.notes
    let delay = lastLook - end
    for (object, leak) in zip(alive, search.leaks) where leak == nil {
      outcome.releasedLate.append(OwnerScope.LateRelease(type: object.type, delay: delay))
    }
    return outcome
  }
}
