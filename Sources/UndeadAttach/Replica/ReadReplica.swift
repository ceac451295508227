import UndeadSystem

/// A replica of a running program in which no system call of ours is to be made: its memory is read from outside while it
/// stands still.
///
/// Takes longer than a copy that the system makes; nothing at all is changed in the program.
enum ReadReplica {
  struct Made {
    let replica: ResurrectedReplica
    /// Nanoseconds that the program stood still.
    let paused: UInt64
    let held: [UInt64]?
  }

  static func make(of program: TargetProgram) throws(AttachError) -> Made {
    var held = HeldByKernel(for: program.anchor)
    let haste = Haste()
    let start = SystemClock.now()
    let stopped = try TracedProcess(
      stopping: program.pid, outsideMallocOf: program.library, memory: program.memory)
    defer { stopped.resume() }
    let threads = try stopped.states()
    held.read(stopped.threads)
    let maps = MemoryMap(process: program.anchor) ?? .unknown
    let pages = try TouchedPages(of: program.anchor)
    var regions: [ReplicaSource.Region] = []
    // What cannot be written to does not change, and is read when the program goes on.
    for region in maps.regions where region.isUsable {
      regions.append(region.source(region.isWritable ? try pages.copy(region, program.memory) : .live(program.memory)))
    }
    let taken = SystemClock.wallClock()
    stopped.resume()
    let paused = SystemClock.now() - start
    haste.end()
    let first = threads.firstIndex(where: \.isFirst) ?? 0
    let files = TargetFiles(of: program.pid)
    let names = Set(maps.imageStarts.map(\.path)).subtracting([program.executable]).sorted()
    let source = ReplicaSource(
      regions: regions, threads: [threads[first]] + threads[..<first] + threads[(first + 1)...], maps: maps,
      pid: program.pid, files: ([program.executable] + names).map { ($0, files.path(of: $0)) },
      executable: program.executable, arguments: program.arguments, vdso: Self.kernelLibrary(maps), taken: taken,
      notes: [])
    return Made(
      replica: try ResurrectedReplica(of: source, name: "process \(program.pid)"), paused: paused,
      held: held.words(in: maps))
  }

  private static func kernelLibrary(_ maps: MemoryMap) -> UInt64? {
    maps.regions.first { $0.path == "[vdso]" }?.start
  }
}

extension MemoryMap.Region {
  /// False for memory of devices and of the kernel, which may not be read or must not be touched.
  fileprivate var isUsable: Bool {
    if path == "[vvar]" || path == "[vvar_vclock]" || path == "[vsyscall]" { return false }
    return !path.hasPrefix("/dev/") || path.hasPrefix("/dev/shm/") || path.hasPrefix("/dev/zero")
  }

  fileprivate func source(_ contents: ReplicaSource.Contents) -> ReplicaSource.Region {
    ReplicaSource.Region(
      low: start, high: end,
      protection: (isReadable ? PROT_READ : 0) | (isWritable ? PROT_WRITE : 0) | (isExecutable ? PROT_EXEC : 0),
      contents: isReadable ? contents : .zero)
  }
}

extension ReplicaSource.Contents {
  /// What the program has there when it is asked.
  fileprivate static func live(_ memory: TargetMemory) -> ReplicaSource.Contents {
    .reader { memory.read(at: $0, into: $1) }
  }
}

/// Which pages of a process have ever been touched: a reservation of gigabytes is mostly nothing.
private struct TouchedPages {
  private let file: Int32
  private let owner: FileOwner

  private final class FileOwner {
    let file: Int32
    init(_ file: Int32) { self.file = file }
    deinit { close(file) }
  }

  init(of tid: pid_t) throws(AttachError) {
    file = open("/proc/\(tid)/pagemap", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw .failure("cannot read which memory of process \(tid) is used: \(SystemError.text(errno))")
    }
    owner = FileOwner(file)
  }

  /// The touched pages of a region, as they are now.
  func copy(_ region: MemoryMap.Region, _ memory: TargetMemory) throws(AttachError) -> ReplicaSource.Contents {
    guard region.isReadable else { return .zero }
    var pieces: [(start: UInt64, bytes: [UInt8])] = []
    // A page of a file that was not touched has the file's contents.
    for range in region.path.hasPrefix("/") ? [region.start..<region.end] : region.touchedPages(file) {
      guard let bytes = memory.read(at: range.lowerBound, count: Int(range.count)) else { continue }
      pieces.append((range.lowerBound, bytes))
    }
    return .reader { address, buffer in
      memset(buffer.baseAddress!, 0, buffer.count)
      let end = address + UInt64(buffer.count)
      for piece in pieces where piece.start < end && piece.start + UInt64(piece.bytes.count) > address {
        let low = max(piece.start, address)
        let high = min(piece.start + UInt64(piece.bytes.count), end)
        piece.bytes.withUnsafeBytes { bytes in
          let part = bytes[Int(low - piece.start)..<Int(high - piece.start)]
          UnsafeMutableRawBufferPointer(rebasing: buffer[Int(low - address)...]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: part))
        }
      }
      return buffer.count
    }
  }
}
