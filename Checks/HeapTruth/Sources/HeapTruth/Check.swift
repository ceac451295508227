import CHeapTruth
import Glibc
import Synchronization

enum Counters {
  nonisolated(unsafe) static var defects = 0
  nonisolated(unsafe) static var falseReports = 0
  nonisolated(unsafe) static var checks = 0
  nonisolated(unsafe) static var failedChecks = 0
  nonisolated(unsafe) static var objectsChecked = 0
}

/// Asks the instrument in this process what leaked, and compares that with the truth.
enum Check {
  enum Moment { case atRandom, last }

  private typealias Copy =
    @convention(c) (
      UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>, UnsafeMutablePointer<CChar>, Int
    ) -> Bool
  private typealias Release = @convention(c) (UnsafeMutableRawPointer?, Int) -> Void

  private static let copy = unsafeBitCast(dlsym(nil, "undead_snapshot_copy"), to: Copy?.self)
  private static let release = unsafeBitCast(dlsym(nil, "undead_snapshot_release"), to: Release?.self)

  nonisolated(unsafe) static var isInFork = false
  static var isPossible: Bool { copy != nil && release != nil }

  /// Returns the number of false reports.
  @discardableResult @inline(never)
  static func run(_ moment: Moment, worker: Int, step: Int) -> Int {
    guard let copy, let release else { return 0 }
    let alive = Truth.aliveCount
    var bytes: UnsafeMutableRawPointer?
    var size = 0
    let message = UnsafeMutablePointer<CChar>.allocate(capacity: 512)
    defer { message.deallocate() }
    guard copy(&bytes, &size, message, 512), let bytes else {
      note("check failed: \(String(cString: message))")
      Truth.locked { Counters.failedChecks += 1 }
      return 0
    }
    let verdict = Verdict(UnsafeRawBufferPointer(start: bytes, count: size))
    release(bytes, size)
    let found = verdict.judge(moment, where: "worker \(worker), step \(step)")
    Truth.locked {
      Counters.checks += 1
      Counters.objectsChecked += alive
      Counters.falseReports += found
    }
    return found
  }
}

/// The nodes of a snapshot that are reported as leaked, with their addresses scrambled.
struct Verdict {
  private let reported: [ReportedNode]

  init(_ bytes: UnsafeRawBufferPointer) { reported = ReportedNode.all(in: bytes, scramble: Truth.scramble) }

  private func find(_ scrambled: UInt64) -> Int? {
    var (low, high) = (0, reported.count)
    while low < high {
      let middle = (low + high) / 2
      if reported[middle].scrambled < scrambled { low = middle + 1 } else { high = middle }
    }
    return low < reported.count && reported[low].scrambled == scrambled ? low : nil
  }

  /// Tells each false report, and returns how many there are.
  func judge(_ moment: Check.Moment, where place: String) -> Int {
    var lines: [String] = []
    var wrong: Set<Int32> = []
    Truth.locked {
      var explained = Set<Int>()
      var isOwn = [Bool](repeating: false, count: reported.count)
      for id in 1..<Truth.used {
        let entry = Truth.entries[Int(id)]
        guard entry.fate != Fate.free.rawValue else { continue }
        let index = find(entry.scrambled)
        if let index {
          isOwn[index] = true
          explained.insert(reported[index].component)
        }
        if entry.fate == Fate.leaked.rawValue {
          if moment == .last { Misses.count(id, isFound: index != nil) }
        } else if entry.fate == Fate.dropped.rawValue, index != nil {
          Truth.entries[Int(id)].wasReported = true
        } else if index != nil, !(Check.isInFork && Truth.isLostInFork(id)) {
          wrong.insert(id)
        }
      }
      // What lies in another one that was reported is reported with it.
      for id in wrong where !Truth.hasAncestor(id, among: wrong) {
        lines.append("FALSE REPORT: \(Truth.describe(id))")
      }
      for (index, node) in reported.enumerated() where !isOwn[index] && !explained.contains(node.component) {
        guard !Strangers.isKnown(node.type) else { continue }
        lines.append("FALSE REPORT: \(Truth.describeDead(node.scrambled) ?? "stranger \(node.type)")")
      }
    }
    let child = Check.isInFork ? "forked child of " : ""
    for line in lines { note("\(line) [\(child)\(place)]") }
    return max(lines.count, wrong.count)
  }
}

/// Objects of the toolchain that it leaks itself.
enum Strangers {
  static func isKnown(_ type: String) -> Bool { type == "support" }
}

/// What leaked and was not told, by the kind of holder that it leaked with or was taken out of.
enum Misses {
  struct Row {
    var leaked = 0
    var missed = 0
  }
  nonisolated(unsafe) static var rows: [String: Row] = [:]

  static func count(_ id: Int32, isFound: Bool) {
    let entry = Truth.entries[Int(id)]
    let name: String
    if entry.wasTaken {
      name =
        "\(family(entry.lastKind)): taken out, then \(entry.wasRetained ? "retained once too often" : "in a cycle")"
    } else if entry.isHolder {
      name = "\(family(entry.kind)): the holder itself"
    } else {
      var parent = entry.parent
      while parent != 0, !Truth.entries[Int(parent)].isHolder { parent = Truth.entries[Int(parent)].parent }
      name = "\(parent == 0 ? "child" : family(Truth.entries[Int(parent)].kind)): with its holder"
    }
    rows[name, default: Row()].leaked += 1
    if !isFound { rows[name, default: Row()].missed += 1 }
  }

  /// Without the way in which an address is written.
  private static func family(_ kind: Int16) -> String {
    kind < 0 ? "nothing" : kinds[Int(kind)].name.split(separator: ".").prefix(2).joined(separator: ".")
  }

  static func print() {
    for (name, row) in rows.sorted(by: { $0.key < $1.key }) {
      note("MISSES \(row.missed) of \(row.leaked) \(name)")
    }
  }
}

/// Forks; the child makes a check and shows by its status whether there were false reports.
@inline(never) func checkInFork(worker: Int, step: Int) {
  let child = Truth.locked { truth_fork() }
  guard child != 0 else {
    alarm(120)
    Check.isInFork = true
    _exit(Check.run(.atRandom, worker: worker, step: step) == 0 ? 0 : 1)
  }
  guard child > 0 else { return }
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0, errno == EINTR {}
  guard status != 0 else { return }
  note("FALSE REPORT: in a forked child, status \(status) [worker \(worker), step \(step)]")
  Truth.locked { Counters.falseReports += 1 }
}
