import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadAttach

/// What is read of core files, and what is said of those that cannot be used.
@Suite struct CoreFileTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func write(_ bytes: [UInt8], _ name: String = "core") throws -> String {
    try Data(bytes).write(to: directory.url.appending(path: name))
    return directory.path(name)
  }

  /// Why a file is refused.
  private func problem(_ bytes: [UInt8]) throws -> String {
    let path = try write(bytes)
    do throws(AttachError) {
      let source = try ReplicaSource(core: try CoreFile(path: path))
      return "none: \(source.regions.count) pieces"
    } catch {
      #expect(error.kind == .misuse)
      return error.message.replacing("'\(path)'", with: "FILE").replacing(directory.path, with: "DIR")
    }
  }

  /// A program with two threads, its file, heap, stack, and a page that nobody may touch.
  static func sample(file: String = "/nowhere/program") -> CoreBuilder {
    var core = CoreBuilder()
    core.thread(41, signal: 11, fsBase: 0x7F00_0000_0040, stack: 0x7FFE_0000_0800)
    core.note("LINUX", 0x202, [UInt8](repeating: 7, count: 832))
    core.process(40, name: "server", arguments: "server --port 80 ")
    core.note("CORE", 0x5349_4749, [11] + [UInt8](repeating: 0, count: 127))
    core.auxiliary([(3, 0x40_0040), (25, 0x7FFE_0000_0900), (33, 0x7FFE_0001_0000)])
    core.files([(0x40_0000, 0x40_2000, 0, file)])
    core.thread(40, fsBase: 0x7F00_0000_0080, stack: 0x7FFE_0000_0700, systemCall: 202)
    let page = [UInt8](repeating: 0xAB, count: 4096)
    core.segments = [
      .init(address: 0x40_0000, size: 0x2000, flags: 5, dumped: page),
      .init(address: 0x100_0000, size: 0x1000, dumped: page),
      .init(address: 0x7F00_0000_0000, size: 0x3000, dumped: page + page + page),
      .init(address: 0x7F00_0000_3000, size: 0x1000, flags: 0),
      .init(address: 0x7F00_0000_4000, size: 0x5000),
      .init(address: 0x7FFE_0000_0000, size: 0x1000, dumped: page),
      .init(address: 0x7FFE_0001_0000, size: 0x1000, flags: 5, dumped: page),
      .init(address: 0xFFFF_FFFF_FF60_0000, size: 0x1000, flags: 1),
    ]
    return core
  }

  @Test func tellsOfProcessThreadsAndMemory() throws {
    let core = try CoreFile(path: try write(Self.sample().encoded()))
    #expect(core.notes.processID == 40 && core.notes.signal == 11)
    #expect(core.notes.commandName == "server" && core.notes.arguments == "server --port 80")
    #expect(core.executable == "/nowhere/program")
    #expect(core.notes.threads.map(\.id) == [41, 40] && core.mainThread.id == 40)
    #expect(core.notes.threads.map(\.isInSystemCall) == [false, true])
    #expect(core.notes.threads.map(\.extendedState.count) == [832, 0])
    #expect(core.notes.threads[0].stackPointer == 0x7FFE_0000_0800)
    // The page beyond all programs is the kernel's.
    #expect(core.segments.count == 7 && core.segments[4].dumped == 0 && core.segments[4].size == 0x5000)
    #expect(core.memory(at: 0x100_0FFE, count: 8) == [0xAB, 0xAB])
    #expect(core.memory(at: 0x40_1000, count: 1) == [] && core.memory(at: 0x50_0000, count: 1) == [])
  }

  @Test func putsMemoryAndFilesTogether() throws {
    // No ELF file: then its size is all that can be compared.
    let program = try write([UInt8](repeating: 0xCD, count: 0x1800), "program")
    let core = try CoreFile(path: try write(Self.sample(file: program).encoded()))
    let source = try ReplicaSource(core: core)
    #expect(
      String(decoding: source.maps.text, as: UTF8.self) == """
        400000-402000 r-xp 00000000 00:01 1 \(program)
        1000000-1001000 rw-p 00000000 00:00 0 [heap]
        7f0000000000-7f0000003000 rw-p 00000000 00:00 0
        7f0000003000-7f0000004000 ---p 00000000 00:00 0
        7f0000004000-7f0000009000 rw-p 00000000 00:00 0
        7ffe00000000-7ffe00001000 rw-p 00000000 00:00 0 [stack]
        7ffe00010000-7ffe00011000 r-xp 00000000 00:00 0 [vdso]

        """)
    // The second page of the program was not dumped.
    #expect(source.regions.prefix(2).map(\.low) == [0x40_0000, 0x40_1000])
    guard case .file(let file, let offset) = source.regions[1].contents else {
      Issue.record("not from the file")
      return
    }
    #expect(file.input.path == program && offset == 0x1000)
    #expect(source.threads.map(\.tid) == [40, 41] && source.threads.map(\.isFirst) == [true, false])
  }

  @Test func hasMoreSegmentsThanTheHeaderCanCount() throws {
    var builder = CoreBuilder()
    builder.thread(1)
    builder.countsInSection = true
    builder.segments = (0..<3000).map { .init(address: 0x1000_0000 + $0 * 0x2000, size: 0x1000) }
    let core = try CoreFile(path: try write(builder.encoded()))
    #expect(core.segments.count == 3000 && core.segments.last?.address == 0x1000_0000 + 2999 * 0x2000)
    #expect(core.notes.processID == 1)
  }

  @Test func isKnownByItsContent() throws {
    let bytes = Self.sample().encoded()
    #expect(CoreFile.isCore(path: try write(bytes)))
    #expect(!CoreFile.isCore(path: try write(Array(bytes.prefix(17)))))
    #expect(!CoreFile.isCore(path: try write([])))
    #expect(!CoreFile.isCore(path: directory.path("none")) && !CoreFile.isCore(path: directory.path))
    #expect(!CoreFile.isCore(path: "/proc/self/exe"))
  }

  // MARK: What cannot be used

  @Test func saysWhatKindOfFileItIs() throws {
    let cannot = "cannot read the core file FILE:"
    #expect(try problem(Array("hello".utf8)) == "\(cannot) it does not start as an ELF file does")
    #expect(try problem([]) == "\(cannot) it does not start as an ELF file does")
    #expect(
      try problem(Array(Self.sample().encoded()[..<40])) == "\(cannot) it ends at byte 40, inside of the ELF header")
    var other = Self.sample()
    other.machine = 183
    #expect(try problem(other.encoded()) == "\(cannot) it is of another machine (arm64); only x86-64 is understood")
    other = Self.sample()
    other.identity[4] = 1
    #expect(try problem(other.encoded()) == "\(cannot) it is of a 32-bit program; only x86-64 is understood")
    other = Self.sample()
    other.identity[5] = 2
    #expect(try problem(other.encoded()) == "\(cannot) it is of a big-endian machine; only x86-64 is understood")
    other = Self.sample()
    other.kind = 3
    #expect(try problem(other.encoded()) == "\(cannot) it is a program or a library, no core file")
    let compressed = try problem([0x28, 0xB5, 0x2F, 0xFD, 4, 0, 0])
    #expect(compressed == "\(cannot) it is compressed; uncompress it first: zstd -d FILE")
  }

  @Test func saysWhatIsMissing() throws {
    let whole = Self.sample().encoded()
    #expect(
      try problem(Array(whole[..<300])).contains("its 9 program headers at byte 64 lie beyond the end of the file (300")
    )
    #expect(
      try problem(Array(whole[..<1000])).contains("which tell of the threads, lie beyond the end of the file (1000"))
    let program = try write([UInt8](repeating: 0xCD, count: 0x2000), "program")
    var core = Self.sample(file: program)
    let cut = try problem(Array(core.encoded().dropLast(2 * 4096 + 100)))
    #expect(
      cut.contains("it was cut off at byte") && cut.contains("8292 bytes") && cut.contains("0x7f0000002f9c"), "\(cut)")
    // The program's own file has what was not dumped of it.
    core.segments[0].declared = 0x2000
    #expect(try problem(core.encoded()).hasPrefix("none: "))
    core = Self.sample(file: program)
    core.segments[2].dumped = []
    #expect(try problem(core.encoded()).contains("the memory of thread 41 at 0x7f0000000040 was not dumped; bit 0 of"))
  }

  @Test func saysWhichFileDiffers() throws {
    let missing = try problem(Self.sample().encoded())
    #expect(
      missing.contains("there is no '/nowhere/program' here; give the file system of the program with --sysroot DIR"))
    let short = try write([UInt8](repeating: 0xCD, count: 0x800), "program")
    #expect(
      try problem(Self.sample(file: short).encoded()).contains("'DIR/program' is shorter than what was mapped of it"))
    var core = Self.sample(file: "/bin/true")
    core.segments[0].dumped = Self.image(buildID: [1, 2, 3])
    let differs = try problem(core.encoded())
    #expect(
      differs.contains("'/bin/true' is another version: its build id is") && differs.contains("the core has 010203"))
  }

  @Test func findsBinariesElsewhere() throws {
    let image = Self.image(buildID: [1, 2, 3, 4])
    let root = directory.url.appending(path: "root/nowhere")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    try Data(image + image).write(to: root.appending(path: "program"))
    var builder = Self.sample(file: "/nowhere/program (deleted)")
    builder.segments[0].dumped = image
    let core = try CoreFile(path: try write(builder.encoded()))
    for search in [BinarySearch(root: directory.path("root")), BinarySearch(directories: ["/tmp", root.path])] {
      let source = try ReplicaSource(core: core, search: search)
      guard case .file(let file, 0x1000) = source.regions[1].contents else {
        Issue.record("not from the file")
        continue
      }
      #expect(file.input.path == root.path + "/program")
    }
    // Pieces without a segment come from the file, too: debuggers leave them out.
    builder.segments.removeFirst()
    builder.segments.insert(.init(address: 0x40_0000, size: 0x1000, flags: 5, dumped: image), at: 0)
    let partial = try CoreFile(path: try write(builder.encoded()))
    let source = try ReplicaSource(core: partial, search: BinarySearch(root: directory.path("root")))
    #expect(source.regions[1].low == 0x40_1000 && source.regions[1].high == 0x40_2000)
    #expect(source.regions[1].protection == PROT_READ | PROT_EXEC)
  }

  /// The first page of a program.
  static func image(buildID: [UInt8]) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: 4096)
    page.replaceSubrange(0..<7, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1])
    page.put(UInt16(2), at: 16)
    page.put(UInt16(62), at: 18)
    page.put(UInt64(64), at: 32)
    page.put(UInt16(56), at: 54)
    page.put(UInt16(2), at: 56)
    func header(_ index: Int, _ kind: UInt32, _ flags: UInt32, _ offset: UInt64, _ size: UInt64) {
      let start = 64 + index * 56
      page.put(kind, at: start)
      page.put(flags, at: start + 4)
      for (place, number) in zip([8, 16, 32, 40, 48], [offset, 0x40_0000 + offset, size, size, 4]) {
        page.put(number, at: start + place)
      }
    }
    header(0, 1, 5, 0, 0x2000)
    header(1, 4, 4, 512, UInt64(16 + buildID.count))
    page.put(UInt32(4), at: 512)
    page.put(UInt32(buildID.count), at: 516)
    page.put(UInt32(3), at: 520)
    page.replaceSubrange(524..<528, with: Array("GNU\0".utf8))
    page.replaceSubrange(528..<528 + buildID.count, with: buildID)
    return page
  }

  @Test func refusesWhatContradictsItself() throws {
    var core = Self.sample()
    core.segments[1].address = 0x40_1000
    #expect(try problem(core.encoded()).contains("two segments overlap at address 0x401000"))
    core = Self.sample()
    core.segments[1].address = 0x100_0010
    #expect(try problem(core.encoded()).contains("segment 2 at 0x1000010 is not made of pages"))
    core = Self.sample()
    core.segments[1].size = UInt64.max - 4095
    #expect(try problem(core.encoded()).contains("segment 2 at 0x1000000 has 18446744073709547520 bytes"))
    core = Self.sample()
    core.segments[1].declared = 0x2000
    #expect(try problem(core.encoded()).contains("the contents of segment 2 at 0x1000000 do not fit it"))
    core = Self.sample()
    core.notes.put(UInt32(1 << 30), at: 4)
    #expect(try problem(core.encoded()).contains("the note at byte 568 is longer than the notes"))
    core = Self.sample()
    core.notes = []
    #expect(try problem(core.encoded()).contains("it tells of no thread (NT_PRSTATUS)"))
    core = Self.sample()
    core.files([(0x40_0000, 0x40_1000, 0, "/other")])
    #expect(try problem(core.encoded()).contains("two files were mapped at 0x400000"))
    core = Self.sample()
    core.note("CORE", 1, [UInt8](repeating: 0, count: 144))
    #expect(try problem(core.encoded()).contains("has 144 bytes, an x86-64 Linux one has 336"))
  }
}
