import UndeadSystem

/// The memory of a core file and of the binaries, put together.
struct CoreLayout {
  private let core: CoreFile
  private let binaries: CoreBinaries
  private let dumps: BackingFile
  private var files: [String: BackingFile] = [:]
  private(set) var regions: [ReplicaSource.Region] = []
  private(set) var maps = CoreMaps()
  private var missing: [(path: String, reason: String)] = []
  private var sharedFiles: [String] = []
  private var lostFiles: [String] = []

  init(_ core: CoreFile, _ search: BinarySearch) throws(AttachError) {
    self.core = core
    binaries = CoreBinaries(core, search)
    dumps = BackingFile(core.input)
    try CoreGaps.check(core)
    var end: UInt64 = 0
    for segment in core.segments {
      addFiles(from: end, to: segment.address)
      add(segment)
      end = segment.end
    }
    addFiles(from: end, to: CoreFile.userEnd)
    if !missing.isEmpty { throw Self.error(missing) }
    maps.label(core)
  }

  var notes: [String] {
    var notes: [String] = []
    if !sharedFiles.isEmpty {
      notes.append(
        "files that the program had mapped to write to (\(sharedFiles.joined(separator: ", "))) are not in the core: "
          + "their contents are those of now")
    }
    if !lostFiles.isEmpty {
      notes.append(
        "files that the program had mapped to write to (\(lostFiles.joined(separator: ", "))) are neither in the core nor "
          + "here: what only they refer to seems to be leaked")
    }
    return notes
  }

  /// Where the files are, `first` before the others.
  func places(first: String) -> [(path: String, place: String)] {
    var paths = Array(Set(core.notes.files.map(\.path))).sorted()
    paths.removeAll { $0 == first }
    return ([first] + paths).map { path in
      guard let file = core.notes.files.first(where: { $0.path == path }),
        case .same(let input, _) = binaries.match(file)
      else { return (path, path) }
      return (path, input.path)
    }
  }

  // MARK: Pieces

  private mutating func add(_ segment: CoreSegment) {
    maps.add(segment, core.notes.file(at: segment.address))
    let protection = Self.protection(segment)
    let dumped = segment.address + segment.present - segment.present % CoreFile.page
    if dumped > segment.address {
      add(segment.address, dumped, protection, .file(dumps, offset: segment.offset))
    }
    addRest(dumped, segment.end, protection)
  }

  /// What was not dumped: it is in a file, or nothing was ever written to it.
  private mutating func addRest(_ low: UInt64, _ high: UInt64, _ protection: Int32) {
    var at = low
    while at < high {
      guard let file = core.notes.file(at: at) else {
        let next = core.notes.files.partitioningIndex { $0.low > at }
        let end = next < core.notes.files.count ? min(core.notes.files[next].low, high) : high
        add(at, end, protection, .zero)
        at = end
        continue
      }
      let end = min(file.high, high)
      if let contents = contents(file, at, protection) { add(at, end, protection, contents) }
      at = end
    }
  }

  /// Pieces of files that have no segment: debuggers leave them out.
  private mutating func addFiles(from low: UInt64, to high: UInt64) {
    let first = core.notes.files.partitioningIndex { $0.high > low }
    for file in core.notes.files[first...].prefix(while: { $0.low < high }) {
      let (start, end) = (max(file.low, low), min(file.high, high))
      guard start < end, case .same(_, let image?) = binaries.match(file) else {
        noteMissing(file, isCode: image(file) != nil)
        continue
      }
      let flags = image.flags(at: file.offset + (start - file.low)) ?? 4
      // What the program wrote to would have been dumped.
      let protection = Self.protection(readable: flags & 4 != 0, writable: false, executable: flags & 1 != 0)
      maps.add(start, end, protection, file)
      if let contents = contents(file, start, protection) { add(start, end, protection, contents) }
    }
  }

  private mutating func add(_ low: UInt64, _ high: UInt64, _ protection: Int32, _ contents: ReplicaSource.Contents) {
    regions.append(ReplicaSource.Region(low: low, high: high, protection: protection, contents: contents))
  }

  // MARK: Files

  private mutating func contents(
    _ file: CoreMappedFile, _ address: UInt64, _ protection: Int32
  ) -> ReplicaSource.Contents? {
    // Nobody could look at it.
    guard protection != PROT_NONE else { return .zero }
    let offset = file.offset + (address - file.low)
    guard case .same(let input, let image) = binaries.match(file) else {
      let isCode = protection & PROT_EXEC != 0 || image(file) != nil
      noteMissing(file, isCode: isCode)
      if !isCode, protection & PROT_WRITE != 0, !lostFiles.contains(file.path) { lostFiles.append(file.path) }
      return nil
    }
    if protection & PROT_WRITE != 0, image == nil, !sharedFiles.contains(file.path) { sharedFiles.append(file.path) }
    if files[file.path] == nil { files[file.path] = BackingFile(input) }
    return .file(files[file.path]!, offset: offset)
  }

  private func image(_ file: CoreMappedFile) -> ElfImage? { binaries.image(file.path) }

  /// Tables of locales and the like may be missing.
  private mutating func noteMissing(_ file: CoreMappedFile, isCode: Bool) {
    guard isCode, !missing.contains(where: { $0.path == file.path }) else { return }
    switch binaries.match(file) {
    case .different(let reason): missing.append((file.path, reason))
    case .missing: missing.append((file.path, "there is no '\(file.path)' here"))
    case .same: break
    }
  }

  private static func error(_ missing: [(path: String, reason: String)]) -> AttachError {
    let shown = missing.prefix(8).map(\.reason).joined(separator: "; ")
    let rest = missing.count > 8 ? " and \(missing.count - 8) more" : ""
    let files = missing.count == 1 ? "a file" : "\(missing.count) files"
    return .misuse(
      "\(files) that the program had loaded cannot be used: \(shown)\(rest); give the file system of the program with "
        + "--sysroot DIR, or a directory with the files with --binaries DIR")
  }

  // MARK: Kinds

  private static func protection(_ segment: CoreSegment) -> Int32 {
    protection(readable: segment.isReadable, writable: segment.isWritable, executable: segment.isExecutable)
  }

  private static func protection(readable: Bool, writable: Bool, executable: Bool) -> Int32 {
    (readable ? PROT_READ : 0) | (writable ? PROT_WRITE : 0) | (executable ? PROT_EXEC : 0)
  }
}
