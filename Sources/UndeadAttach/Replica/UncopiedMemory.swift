import UndeadSystem

/// What a copy that the system makes of a program lacks, or goes on sharing with the program: it is read while the program
/// stands still, and put into the copy.
struct UncopiedMemory {
  private struct Part {
    var region: MemoryMap.Region
    var pieces: [(start: UInt64, bytes: [UInt8])]
  }

  private static let page: UInt64 = 4096
  /// More would take too long: the copy then has less than the program.
  private static let mostBytes: UInt64 = 64 << 20
  private static let mostReserved: UInt64 = 1 << 30

  private var parts: [Part] = []
  private let standing: [MemoryMap.Region]
  /// All that the copy lacked is here.
  private(set) var isComplete = true

  /// - Parameter lost: memory that copies do not get, or get empty.
  init(of program: TargetProgram, _ lost: [Range<UInt64>]) {
    let maps = MemoryMap(process: program.anchor) ?? .unknown
    let pagemap = open("/proc/\(program.anchor)/pagemap", O_RDONLY | O_CLOEXEC)
    defer { if pagemap >= 0 { close(pagemap) } }
    standing = maps.regions
    var room = Self.mostBytes
    for region in maps.regions where Self.isUncopied(region, lost) {
      if let part = Self.part(region, program, pagemap, &room) {
        parts.append(part)
      } else {
        isComplete = false
      }
    }
  }

  /// What stands in a region; nil if that is too much, or unknown.
  private static func part(
    _ region: MemoryMap.Region, _ program: TargetProgram, _ pagemap: Int32, _ room: inout UInt64
  ) -> Part? {
    guard region.end - region.start <= mostReserved else { return nil }
    guard region.isShared else {
      return part(region, region.touchedPages(pagemap), &room) { range in
        program.memory.read(at: range.lowerBound, count: range.count)
      }
    }
    // What others have put into the file is in no page table of the program's; and holes would be filled by reading there.
    let name = String(region.start, radix: 16) + "-" + String(region.end, radix: 16)
    let file = open("/proc/\(program.anchor)/map_files/\(name)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return part(region, data(of: region, file), &room) { range in
      var bytes = [UInt8](repeating: 0, count: range.count)
      let place = off_t(range.lowerBound - region.start + region.offset)
      return pread(file, &bytes, bytes.count, place) >= 0 ? bytes : nil
    }
  }

  private static func part(
    _ region: MemoryMap.Region, _ ranges: [Range<UInt64>], _ room: inout UInt64, read: (Range<UInt64>) -> [UInt8]?
  ) -> Part? {
    let size = ranges.reduce(0) { $0 + UInt64($1.count) }
    guard size <= room else { return nil }
    room -= size
    var part = Part(region: region, pieces: [])
    for range in ranges {
      guard let bytes = read(range) else { return nil }
      part.pieces.append((range.lowerBound, bytes))
    }
    return part
  }

  /// The parts of a region whose file has no hole there.
  private static func data(of region: MemoryMap.Region, _ file: Int32) -> [Range<UInt64>] {
    // <unistd.h>: SEEK_DATA, SEEK_HOLE
    let (data, hole): (Int32, Int32) = (3, 4)
    var ranges: [Range<UInt64>] = []
    let end = off_t(region.offset + (region.end - region.start))
    var place = off_t(region.offset)
    while place < end {
      let start = lseek(file, place, data)
      guard start >= 0, start < end else { break }
      let next = min(max(lseek(file, start, hole), start + 1), end)
      let low = region.start + ((UInt64(start) - region.offset) & ~(page - 1))
      let high = region.start + ((UInt64(next) - region.offset + page - 1) & ~(page - 1))
      if low < high { ranges.append(max(low, ranges.last?.upperBound ?? low)..<min(high, region.end)) }
      place = next
    }
    return ranges
  }

  /// Memory that others may change meanwhile, in files that only are memory; of devices nothing.
  private static func isUncopied(_ region: MemoryMap.Region, _ lost: [Range<UInt64>]) -> Bool {
    let isMemory =
      region.path.isEmpty || region.path.hasPrefix("[anon") || region.path.hasPrefix("/dev/zero")
      || region.path.hasPrefix("/memfd:")
      || region.path.hasPrefix("/dev/shm/") || region.path.hasPrefix("/SYSV")
    if region.isShared {
      return isMemory || (region.isWritable && !region.path.hasPrefix("/dev/") && region.inode != 0)
    }
    return isMemory && lost.contains { $0.overlaps(region.start..<region.end) }
  }

  /// True if the program got such memory between the question for it and its stop: the copy has it empty, or not at all.
  func isLate(in copy: pid_t, _ maps: MemoryMap) -> Bool {
    guard isComplete else { return false }
    let lost = MemoryMap.uncopied(process: copy)
    if maps.regions.contains(where: { !$0.isShared && Self.isUncopied($0, lost) }) { return true }
    return standing.contains { region in
      region.path.isEmpty && !region.isShared && region.isWritable && maps.region(containing: region.start) == nil
    }
  }

  /// Puts it into the copy, as memory of the copy's own.
  mutating func put(into host: ReplicaHost) {
    do throws(AttachError) {
      for part in parts { try Self.put(part, into: host) }
    } catch {
      isComplete = false
    }
  }

  private static func put(_ part: Part, into host: ReplicaHost) throws(AttachError) {
    let region = part.region
    let flags = UInt64(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE)
    let mapped = try host.systemCall(
      SystemCall.mmap, region.start, region.end - region.start, UInt64(PROT_READ | PROT_WRITE), flags, .max)
    guard mapped == Int64(bitPattern: region.start) else {
      throw .failure("memory that the program shares with others cannot be put into its copy")
    }
    for piece in part.pieces { try host.memory.write(piece.bytes, at: piece.start) }
    let protection =
      (region.isReadable ? PROT_READ : 0) | (region.isWritable ? PROT_WRITE : 0)
      | (region.isExecutable ? PROT_EXEC : 0)
    _ = try host.systemCall(SystemCall.mprotect, region.start, region.end - region.start, UInt64(protection))
  }
}
