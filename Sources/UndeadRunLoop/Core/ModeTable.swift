import Synchronization

/// The names of all modes of the process; a mode is an index into it, so that comparing modes is comparing numbers.
enum ModeTable {
  private struct Names {
    var names: [String]
    var index: [String: Int32]
  }

  static let defaultMode: Int32 = 0
  static let commonMode: Int32 = 1
  static let trackingMode: Int32 = 2

  private static let table: Mutex<Names> = {
    let names = ["default", "common", "tracking"]
    return Mutex(Names(names: names, index: ["default": defaultMode, "common": commonMode, "tracking": trackingMode]))
  }()

  static func intern(_ name: String) -> Int32 {
    table.withLock { table in
      if let known = table.index[name] { return known }
      let index = Int32(table.names.count)
      table.names.append(name)
      table.index[name] = index
      return index
    }
  }

  static func name(_ mode: Int32) -> String { table.withLock { $0.names[Int(mode)] } }
}

/// The timers of one distinct set of modes. One queue for each set: timers whose modes do not run, however overdue,
/// are never looked at by those that do.
struct ModeSet {
  /// Modes in ascending order.
  var modes: [Int32]
  /// Timers that want to be exact.
  var exact = DueHeap()
  /// Timers with tolerance: by the date before which they must not fire...
  var soft = DueHeap()
  /// ...and by the date after which they are late.
  var hard = DueHeap()
  /// Timers in this set, those that are firing included.
  var timers = 0
  /// The starvation that lasts was reported.
  var starvationReported = false

  init(modes: [Int32]) { self.modes = modes }

  func contains(_ mode: Int32) -> Bool { modes.contains(mode) }
}
