import UndeadSystem

/// Decides when the memory of a process has passed its mark, and when to look again.
///
/// It reads a few small files: often while memory rises towards the mark, once a second else.
struct MemoryWatch {
  /// What is to be done at a look.
  enum Decision: Equatable {
    case nothing
    /// The heap is to be written now; why, for a person.
    case take(reason: String)
    /// There is no room for the copy of the process that is needed for it; why, for a person.
    case refuse(reason: String)
  }

  /// The least time between two heaps, in nanoseconds.
  let every: UInt64
  private let mark: MemoryMark
  private let gauge: MemoryGauge
  /// None is taken before this time.
  private var earliest: UInt64 = 0
  private var last: (time: UInt64, share: Double)?
  private(set) var nextLook: UInt64

  static let calm: UInt64 = 1_000_000_000
  static let hurry: UInt64 = 50_000_000

  init(mark: MemoryMark, every: UInt64, gauge: MemoryGauge, now: UInt64) {
    self.mark = mark
    self.every = every
    self.gauge = gauge
    nextLook = now
  }

  mutating func look(now: UInt64) -> Decision {
    let use = gauge.use()
    let resident = gauge.resident()
    guard resident > 0, let (share, text) = share(use, resident) else {
      nextLook = now + Self.calm
      return .nothing
    }
    plan(share, now)
    // One that stays above is looked at again, too: what has come since is what it will die of.
    guard share >= 1, now >= earliest else { return .nothing }
    earliest = now + every
    guard let use, case let room = Self.room(for: resident, endsAll: use.endsAll), use.room < room else {
      return .take(reason: text)
    }
    return .refuse(
      reason:
        "\(text), and \(Self.text(use.room)) are left, but a copy of a process with \(Self.text(resident)) may need "
        + "\(Self.text(room)): no heap was written, so that it does not bring the end itself; "
        + "give a lower mark")
  }

  /// The heap could not be taken: the next moment may be a better one.
  mutating func retry(now: UInt64) {
    earliest = min(earliest, now + 10 * Self.calm)
  }

  /// How far on the way to the mark it is, 1 at the mark, with words.
  private func share(_ use: MemoryUse?, _ resident: UInt64) -> (Double, String)? {
    switch mark {
    case .bytes(let bytes):
      return (Double(resident) / Double(bytes), "the program has \(Self.text(resident)) in memory")
    case .share(let percent):
      guard let use else { return nil }
      return (
        use.percent / percent, "\(Int(use.percent))% of the \(Self.text(use.limit)) of \(use.place) are in use"
      )
    }
  }

  /// Looks so often that the mark is not passed by more than half of what was left.
  private mutating func plan(_ share: Double, _ now: UInt64) {
    var wait = Self.calm
    if let last, share > last.share, now > last.time, share < 1 {
      let rate = (share - last.share) / Double(now - last.time)
      wait = UInt64(min(Double(Self.calm), max(Double(Self.hurry), (1 - share) / rate / 2)))
    }
    last = (now, share)
    nextLook = now + wait
  }

  /// What there must be for a heap of a process: for pages that it writes to meanwhile, tables for its objects, the tool's own
  /// work on the file (Documentation/production.md has what was measured).
  ///
  /// The copy offers itself to the kernel, so where too little is left it ends alone; unless all of the cgroup ends with it.
  static func room(for resident: UInt64, endsAll: Bool = false) -> UInt64 {
    endsAll ? (48 << 20) + resident * 2 / 5 : (24 << 20) + resident / 10
  }

  private static func text(_ bytes: UInt64) -> String {
    bytes >= 1 << 30
      ? "\((Double(bytes) / Double(1 << 30) * 10).rounded() / 10) GiB" : "\(bytes >> 20) MiB"
  }
}
