/// The mappings of a process, as `/proc/PID/maps` shows them.
package struct MemoryMap: Sendable {
  package struct Region: Sendable, Equatable {
    package var start: UInt64
    package var end: UInt64
    package var isReadable: Bool
    package var isWritable: Bool
    package var isExecutable: Bool
    package var isShared: Bool
    package var offset: UInt64
    package var inode: UInt64
    /// Empty for memory without a name.
    package var path: String
  }

  /// In ascending order.
  package let regions: [Region]
  /// What they were read from.
  package let text: [UInt8]

  package init(text: [UInt8]) {
    self.text = text
    regions = text.split(separator: UInt8(ascii: "\n")).compactMap(Self.region)
  }

  private static func region(_ line: ArraySlice<UInt8>) -> Region? {
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5, omittingEmptySubsequences: true)
    guard fields.count >= 5 else { return nil }
    let range = fields[0].split(separator: UInt8(ascii: "-"))
    guard range.count == 2, let start = number(range[0]), let end = number(range[1]), start < end,
      let offset = number(fields[2]), fields[1].count == 4
    else { return nil }
    let mode = Array(fields[1])
    let path = fields.count > 5 ? fields[5].drop { $0 == UInt8(ascii: " ") } : []
    return Region(
      start: start, end: end, isReadable: mode[0] == UInt8(ascii: "r"), isWritable: mode[1] == UInt8(ascii: "w"),
      isExecutable: mode[2] == UInt8(ascii: "x"), isShared: mode[3] == UInt8(ascii: "s"), offset: offset,
      inode: UInt64(String(decoding: fields[4], as: UTF8.self)) ?? 0, path: String(decoding: path, as: UTF8.self))
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  /// The region that an address lies in.
  package func region(containing address: UInt64) -> Region? {
    let index = regions.partitioningIndex { $0.end > address }
    return index < regions.count && regions[index].start <= address ? regions[index] : nil
  }

  /// Where a mapped file that holds code begins, with its path. A file may also be mapped to be read, as debuggers do: there
  /// is no code behind that beginning.
  package var imageStarts: [(path: String, start: UInt64)] {
    var starts: [(path: String, start: UInt64)] = []
    var seen: Set<String> = []
    var begun: [String: UInt64] = [:]
    for region in regions where !region.path.isEmpty {
      if region.offset == 0 { begun[region.path] = region.start }
      guard region.isExecutable, let start = begun[region.path], seen.insert(region.path).inserted else { continue }
      starts.append((region.path, start))
    }
    return starts
  }
}

extension MemoryMap {
  /// Of which nothing is known.
  package static var unknown: MemoryMap { MemoryMap(text: []) }

  /// Of this process; nil where there is no `/proc`.
  package static var own: MemoryMap? { MemoryMap(directory: "self") }

  /// Of a running process; nil with `errno` set if it cannot be read.
  package init?(process: Int32) { self.init(directory: "\(process)") }

  private init?(directory: String) {
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      guard let text = WholeFile.read("/proc/\(directory)/maps") else { return nil }
      self.init(text: text)
    #else
      return nil
    #endif
  }
}
