import CUndead
import Foundation
import UndeadSystem

/// The objects that outlived their owner scopes, for every later report of the process.
///
/// The instrument keeps its sources of facts for good: it asks the watchlist of the session of the process.
final class Watchlist: Sendable {
  /// An object that should be gone.
  struct Entry: Sendable {
    var object: ObjectHandle
    var scope: String
    /// Where the scope ended: return addresses.
    var frames: [UInt]
    var end: ContinuousClock.Instant
    /// When it was seen alive for the last time.
    var seen: ContinuousClock.Instant
    /// Only asked about now: later reports are not to report it.
    var isTemporary = false
  }

  /// An object that may have gone already.
  struct Candidate: Sendable {
    var object: HiddenAddress
    var isa: UInt
    var scope: String
  }

  private struct Remark: Sendable {
    var kind: String
    var message: String
    var frames: [UInt] = []
  }

  private struct State {
    var entries: [Entry] = []
    var candidates: [UInt64: [Candidate]] = [:]
    var remarks: [Remark] = []
    /// Names of the scopes that are open.
    var open: [UInt64: String] = [:]
    /// The last name that was given.
    var lastNumber: UInt64 = 0
  }

  private static let remarkLimit = 1000
  private let state = Mutex(State())

  private let drivesInstrument: Bool

  init(drivesInstrument: Bool) {
    self.drivesInstrument = drivesInstrument
  }

  private static let registered: Void = {
    _ = undead_add_facts_source({ facts, _ in facts.map(DetectionSession.process.watchlist.tell) }, nil)
  }()

  /// Changes what later reports tell; they ask from the first time on.
  private func change<Output: Sendable>(_ work: (inout State) -> Output) -> Output {
    if drivesInstrument { _ = Self.registered }
    return state.withLock { work(&$0) }
  }

  // MARK: Scopes

  /// Notes an open scope; the result names it.
  func opened(_ name: String) -> UInt64 {
    change { state in
      state.lastNumber += 1
      state.open[state.lastNumber] = name
      return state.lastNumber
    }
  }

  func closed(_ scope: UInt64) {
    state.withLock { $0.open[scope] = nil }
  }

  /// Notes what the next reports are to report.
  func remark(_ kind: String, _ message: String, frames: [UInt] = []) {
    change { state in
      guard state.remarks.count < Self.remarkLimit else { return }
      state.remarks.append(Remark(kind: kind, message: message, frames: frames))
    }
  }

  // MARK: Objects

  /// Has the next reports tell what became of these objects.
  func add(_ entries: [Entry]) {
    change { $0.entries += entries }
  }

  /// Takes objects that are only asked about off the list again.
  func removeTemporary(_ objects: [ObjectHandle]) {
    let objects = Set(objects.map(\.identity))
    state.withLock { $0.entries.removeAll { $0.isTemporary && objects.contains($0.object.identity) } }
  }

  /// Has the next reports tell why these are alive; the result names them.
  func addCandidates(_ candidates: [Candidate]) -> UInt64 {
    change { state in
      state.lastNumber += 1
      state.candidates[state.lastNumber] = candidates
      return state.lastNumber
    }
  }

  func removeCandidates(_ number: UInt64) {
    state.withLock { $0.candidates[number] = nil }
  }

  // MARK: Reports

  private static let patience = 100

  /// Tells a check of the objects. On a thread of its own; an interrupted thread may hold the lock for good.
  private func tell(_ facts: OpaquePointer) {
    for _ in 0..<Self.patience {
      if state.withLockIfAvailable({ Self.tell(facts, &$0) }) != nil { return }
      Patience.pause(.milliseconds(1))
    }
  }

  private static func tell(_ facts: OpaquePointer, _ state: inout State) {
    let now = ContinuousClock.now
    var alive: [Entry] = []
    for var entry in state.entries {
      guard entry.object.isAlive else {
        if !entry.isTemporary { state.remarks.append(lateRelease(entry, now)) }
        continue
      }
      entry.seen = now
      addWatched(entry, to: facts)
      alive.append(entry)
    }
    state.entries = alive
    for candidate in state.candidates.values.joined() {
      candidate.scope.withCString {
        let address = UnsafeRawPointer(bitPattern: UInt(candidate.object.address))
        undead_facts_add_candidate(facts, address, candidate.isa, $0)
      }
    }
    for remark in state.remarks { add(remark, to: facts) }
    guard undead_facts_are_last() else { return }
    for (_, name) in state.open.sorted(by: { $0.key < $1.key }) {
      add(
        Remark(
          kind: "scopeNeverClosed",
          message: "scope \"\(name)\" was still open when the process ended: call close(), or use withOwnerScope"),
        to: facts)
    }
  }

  private static func lateRelease(_ entry: Entry, _ now: ContinuousClock.Instant) -> Remark {
    let (seen, gone) = ((entry.seen - entry.end).text, (now - entry.end).text)
    return Remark(
      kind: "releasedLate",
      message: "\(entry.object.type) was released late: between \(seen) and \(gone) after the end of scope "
        + "\"\(entry.scope)\"",
      frames: entry.frames)
  }

  private static func addWatched(_ entry: Entry, to facts: OpaquePointer) {
    entry.scope.withCString { scope in
      entry.frames.withUnsafeBufferPointer { frames in
        var watched = undead_watched_object()
        watched.object = entry.object.pointer
        watched.scope = scope
        watched.frames = frames.baseAddress
        watched.frame_count = UInt32(frames.count)
        undead_facts_add_watched(facts, &watched)
      }
    }
  }

  private static func add(_ remark: Remark, to facts: OpaquePointer) {
    remark.kind.withCString { kind in
      remark.message.withCString { message in
        remark.frames.withUnsafeBufferPointer { frames in
          var diagnostic = undead_diagnostic()
          diagnostic.kind = kind
          diagnostic.message = message
          diagnostic.frames = frames.baseAddress
          diagnostic.frame_count = UInt32(frames.count)
          undead_facts_add_diagnostic(facts, &diagnostic)
        }
      }
    }
  }
}
