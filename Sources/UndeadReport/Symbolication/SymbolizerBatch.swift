import UndeadSystem

extension Symbolizer {
  /// Names the code addresses of several snapshots in one go: processes of one program share most of them.
  package func symbolize(_ snapshots: [LeakSnapshot]) -> [Result] {
    guard snapshots.count > 1 else { return snapshots.map(symbolize) }
    var space = SharedSpace()
    let maps = snapshots.map { snapshot in
      space.add(snapshot.lookupAddresses.filter { snapshot.symbols[$0] == nil }, modules: snapshot.modules)
    }
    let closures = zip(snapshots, maps).reduce(into: Set<UInt64>()) { all, entry in
      let values = entry.0.functionValues
      all.formUnion(entry.1.lazy.filter { values.contains($0.address) }.map(\.common))
    }
    let shared = symbolize(Array(space.addresses), modules: space.modules, closures: closures)
    return zip(snapshots, maps).enumerated().map { number, entry in
      let (snapshot, map) = entry
      // What could not be read is reported once.
      var result = Result(notes: number == 0 ? shared.notes : [])
      for (address, common) in map {
        result.symbols[address] = shared.symbols[common]
        result.symbols.variables[address] = shared.symbols.variables[common]
      }
      result.symbols.frames.merge(snapshot.symbols.frames) { _, known in known }
      return result
    }
  }
}

/// Addresses of several processes, moved to where each file is loaded once.
private struct SharedSpace {
  /// A file as it was when a process ran it.
  private struct File: Hashable {
    var path: String
    var buildID: String
  }

  private(set) var modules: [Snapshot.Module] = []
  private(set) var addresses = Set<UInt64>()
  private var positions: [File: Int] = [:]
  /// Far more than a file can span.
  private static let distance: UInt64 = 1 << 40

  /// Adds the addresses of a process, and says where each one is here.
  mutating func add(_ addresses: [UInt64], modules: [Snapshot.Module]) -> [(address: UInt64, common: UInt64)] {
    let sorted = modules.ordered { $0.low < $1.low }
    return addresses.map { address in
      let common = sorted.last { $0.low <= address }.flatMap { move(address, in: $0) } ?? address
      self.addresses.insert(common)
      return (address, common)
    }
  }

  private mutating func move(_ address: UInt64, in module: Snapshot.Module) -> UInt64? {
    let isPlausible = module.low >= module.bias && module.high &- module.bias < Self.distance
    guard isPlausible, address < module.high else { return nil }
    let file = File(path: module.path, buildID: module.buildID)
    let position = positions[file] ?? modules.count
    guard position < 1 << 20 else { return nil }
    // Above every address of a process.
    let bias = (1 << 62) + UInt64(position) * Self.distance
    if position == modules.count {
      positions[file] = position
      modules.append(module)
      modules[position].low = bias
      modules[position].high = bias + Self.distance
      modules[position].bias = bias
    }
    return address - module.bias + bias
  }
}
