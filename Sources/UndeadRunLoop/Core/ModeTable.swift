#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// The names of all modes of the process; a mode is an index into it, so that comparing modes is comparing numbers.
enum ModeTable {
  private struct Names {
    var names: [String]
    var index: [String: Int32]
  }

  static let defaultMode: Int32 = 0
  static let commonMode: Int32 = 1
  static let trackingMode: Int32 = 2

  private static let table: Locked<Names> = {
    let names = ["default", "common", "tracking"]
    return Locked(Names(names: names, index: ["default": defaultMode, "common": commonMode, "tracking": trackingMode]))
  }()

  static var lockForForks: LoopLock { table.lock }

  static func intern(_ name: String) -> Int32 {
    table.withLock { table in
      if let known = table.index[name] { return known }
      let index = Int32(table.names.count)
      table.names.append(name)
      table.index[name] = index
      return index
    }
  }

  static func prepare() { _ = intern("default") }

  static func name(_ mode: Int32) -> String { table.withLock { $0.names[Int(mode)] } }
}
#endif
