import Glibc
import UndeadReport
import UndeadSystem

/// Reads the logs of programs while they run, and hands over uses of dead objects when they happen.
///
/// A log lies in memory that the program shares with the file, so nothing shows a change: its length is read once a second. A
/// group of uses (a signature) is news once.
final class FindingWatch {
  /// An event of a log, which keeps its place in it.
  private struct Place: Hashable {
    var pid: pid_t
    var object: UInt64
    var time: UInt64
    var kind: UInt32

    init(_ event: ZombieLog.Event, _ pid: pid_t) {
      (self.pid, object, time, kind) = (pid, event.object, event.accessTime, event.kind)
    }
  }

  private let source: ZombieLogSource
  private let onNews: (ZombieFindings) -> Void
  private var sizes: [String: UInt64] = [:]
  private var seen: Set<Place> = []
  /// Retains that may belong to a use which says more: they wait for the next look.
  private var retains: Set<Place> = []
  private var told: Set<String> = []
  /// Of a program that ends at once, the report has all.
  private var next = SystemClock.now() + FindingWatch.pause

  /// - Parameter onNews: called with uses that were not told yet.
  init(_ source: ZombieLogSource, onNews: @escaping (ZombieFindings) -> Void) {
    self.source = source
    self.onNews = onNews
  }

  private static let pause: UInt64 = 1_000_000_000
  private static let retain: UInt32 = 3

  /// Looks if it is time to.
  ///
  /// - Returns: when to look again.
  func look(now: UInt64 = SystemClock.now()) -> UInt64 {
    if now >= next {
      next = now + Self.pause
      read(isLast: false)
    }
    return next
  }

  /// Hands over all that is left: the programs have ended.
  func finish() { read(isLast: true) }

  private func read(isLast: Bool) {
    let sizes = source.sizes
    let changed = sizes.filter { self.sizes[$0.key] != $0.value || !retains.isEmpty }.keys.sorted()
    self.sizes = sizes
    guard !changed.isEmpty else { return }
    var waiting: Set<Place> = []
    let logs = ZombieLogs(source, files: changed) { event, pid in
      let place = Place(event, pid)
      if seen.contains(place) { return false }
      if event.kind == Self.retain, !isLast, !retains.contains(place) {
        waiting.insert(place)
        return false
      }
      seen.insert(place)
      return true
    }
    retains = waiting
    var findings = logs.findings
    findings.zombies.removeAll { !told.insert($0.signature).inserted }
    if !findings.zombies.isEmpty { onNews(findings) }
  }
}
