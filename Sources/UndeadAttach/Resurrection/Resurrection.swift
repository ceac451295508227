import UndeadSystem

/// Makes a process of the memory of a `ReplicaSource`.
struct Resurrection {
  let source: ReplicaSource
  private static let chunk = 1 << 20

  /// The process stands still with the registers of the source's first thread; it ends with us.
  func process() throws(AttachError) -> EmptyProcess {
    let process = try EmptyProcess(at: try freeAddress(), files: descriptors)
    do throws(AttachError) {
      for region in source.regions { try map(region, into: process) }
      if let vdso = source.vdso { try KernelLibrary.replace(at: vdso, in: process, source.regions) }
      try process.closeFiles()
      try Confinement.confine(process)
      try process.take(source.threads[0])
    } catch {
      process.end()
      throw error
    }
    return process
  }

  private var descriptors: [Int32] {
    var all: Set<Int32> = []
    for region in source.regions {
      if case .file(let file, _) = region.contents { all.insert(file.input.descriptor) }
    }
    return all.sorted()
  }

  /// Far from where the kernel puts anything.
  private func freeAddress() throws(AttachError) -> UInt64 {
    let distance: UInt64 = 1 << 32
    for address in stride(from: UInt64(0x1000_0000_0000), to: 0x5000_0000_0000, by: 1 << 36) {
      let index = source.regions.partitioningIndex { $0.high > address - distance }
      if index == source.regions.count || source.regions[index].low >= address + distance { return address }
    }
    throw .misuse("the program has memory everywhere, there is no room for a page; the core file is damaged")
  }

  // MARK: Memory

  private enum Flag {
    static let copied: UInt64 = 2
    static let fixed: UInt64 = 0x10
    static let anonymous: UInt64 = 0x20
    static let noReserve: UInt64 = 0x4000
    static let placed = copied | fixed | noReserve
  }

  private func map(_ region: ReplicaSource.Region, into process: EmptyProcess) throws(AttachError) {
    switch region.contents {
    case .zero: try mapEmpty(region, into: process)
    case .reader(let read):
      try mapEmpty(region, into: process)
      try copy(region, into: process) { offset, buffer in read(region.low + offset, buffer) }
    case .file(let file, let offset):
      if try mapFile(region, file, offset, into: process) { return }
      try mapEmpty(region, into: process)
      try copy(region, into: process) { file.input.read(at: offset + $0, into: $1) }
    }
  }

  private func mapEmpty(_ region: ReplicaSource.Region, into process: EmptyProcess) throws(AttachError) {
    let result = try process.map(
      region.low, region.high - region.low, region.protection, Flag.placed | Flag.anonymous, .max, 0)
    try check(result, region)
  }

  /// False if the file cannot be mapped so: debuggers write memory to any offset, and some file systems run no code.
  private func mapFile(
    _ region: ReplicaSource.Region, _ file: BackingFile, _ offset: UInt64, into process: EmptyProcess
  ) throws(AttachError) -> Bool {
    guard offset % EmptyProgram.pageSize == 0 else { return false }
    let result = try process.map(
      region.low, region.high - region.low, region.protection, Flag.placed, UInt64(file.input.descriptor), offset)
    if result == -Int64(EPERM) || result == -Int64(EACCES) || result == -Int64(ENODEV) { return false }
    try check(result, region)
    return true
  }

  private func check(_ result: Int64, _ region: ReplicaSource.Region) throws(AttachError) {
    if result == Int64(bitPattern: region.low) { return }
    let code = result < 0 && result >= -4095 ? Int32(-result) : EFAULT
    let hint = code == ENOMEM ? "; memory, RLIMIT_AS or vm.max_map_count may be too small" : ""
    throw .failure(
      "cannot map \(region.high - region.low) bytes at \(hex(region.low)): \(SystemError.text(code))\(hint)")
  }

  /// Pages of zeros are left out: they are not to take memory.
  private func copy(
    _ region: ReplicaSource.Region, into process: EmptyProcess,
    _ read: (UInt64, UnsafeMutableRawBufferPointer) -> Int
  ) throws(AttachError) {
    let size = region.high - region.low
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
    defer { buffer.deallocate() }
    for offset in stride(from: UInt64(0), to: size, by: Self.chunk) {
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(UInt64(Self.chunk), size - offset))])
      let count = read(offset, part)
      try write(UnsafeRawBufferPointer(rebasing: part[..<count]), at: region.low + offset, into: process)
    }
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, at address: UInt64, into process: EmptyProcess
  ) throws(AttachError) {
    var start: Int?
    for offset in stride(from: 0, to: bytes.count, by: Int(EmptyProgram.pageSize)) {
      let page = UnsafeRawBufferPointer(rebasing: bytes[offset..<min(offset + 4096, bytes.count)])
      if !Self.isZero(page) {
        start = start ?? offset
      } else if let first = start {
        try process.memory.write(UnsafeRawBufferPointer(rebasing: bytes[first..<offset]), at: address + UInt64(first))
        start = nil
      }
    }
    guard let start else { return }
    try process.memory.write(UnsafeRawBufferPointer(rebasing: bytes[start...]), at: address + UInt64(start))
  }

  private static func isZero(_ page: UnsafeRawBufferPointer) -> Bool {
    guard let first = page.first, first == 0 else { return page.isEmpty }
    return memcmp(page.baseAddress!, page.baseAddress! + 1, page.count - 1) == 0
  }
}
