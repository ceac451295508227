import Foundation
import UndeadAttach
import UndeadFormats
import UndeadHeap
import UndeadHeapReport
import UndeadHostileSamples
import UndeadReport
import UndeadService
import UndeadSystem

/// What reads files, and other input that need not be trusted. Whatever the bytes are, a reader returns: what it makes of them does not
/// matter here. The last two are all writers: the bytes decide what they are given, and what they write is judged.
enum Reader: String, CaseIterable {
  case snapshot, heap, zombies, elf, core, maps, suppressions, names, report, http, writers, heapwriters

  /// Reads all that is ever read of such an input.
  func read(_ bytes: [UInt8]) {
    switch self {
    case .snapshot: Self.readSnapshot(Self.sealed(bytes))
    case .heap: Self.readHeap(Self.sealed(bytes))
    case .zombies: _ = try? ZombieLog.decode(bytes)
    case .elf:
      Self.withFile(bytes, Self.readELF)
      Self.readLoaded(bytes)
    case .core: Self.withFile(bytes) { path in _ = try? CoreFile(path: path) }
    case .maps: Self.readMaps(bytes)
    case .suppressions: Self.readSuppressions(String(decoding: bytes, as: UTF8.self))
    case .names: Self.readName(String(decoding: bytes, as: UTF8.self))
    case .report: Self.readReport(Data(bytes))
    case .http: Self.readRequest(bytes)
    case .writers: Self.write(HostileFindings(reports: bytes), Writer.allCases.filter { !$0.isOfHeaps })
    case .heapwriters: Self.write(HostileFindings(heaps: bytes), Writer.allCases.filter(\.isOfHeaps))
    }
  }

  /// The same file with the right length and checksum: else hardly any input would come further than these.
  private static func sealed(_ bytes: [UInt8]) -> Data {
    var data = Data(bytes)
    guard data.count >= 64 else { return data }
    withUnsafeBytes(of: UInt64(data.count).littleEndian) { data.replaceSubrange(16..<24, with: $0) }
    let sum = data.withUnsafeBytes { SnapshotFormat.checksum($0) }
    withUnsafeBytes(of: sum.littleEndian) { data.replaceSubrange(24..<32, with: $0) }
    return data
  }

  private static func render(_ report: LeakReport) {
    _ = TextRenderer.render(report)
    _ = JUnitRenderer.render(report)
    _ = GitHubRenderer.render(report)
    _ = try? JSONRenderer.render(report)
  }

  private static func readSnapshot(_ data: Data) {
    guard let snapshot = try? Snapshot(decoding: data) else { return }
    render(LeakReport(analyzing: [ReportInput(snapshot)]))
  }

  private static func readHeap(_ data: Data) {
    guard let file = try? HeapFile(decoding: data), let heap = try? LoadedHeap(file) else { return }
    var options = HeapReportOptions()
    for subject in [nil, .type("*"), .address(0x5500_4000_0000)] as [HeapSelection.Subject?] {
      options.subject = subject
      options.foldsStorage.toggle()
      guard let report = try? HeapReport(heap, options: options, symbolizer: nil) else { continue }
      for view in HeapView.allCases { _ = HeapText.render(report, by: view) }
      _ = try? report.json()
    }
  }

  private static func readELF(_ path: String) {
    guard let file = try? ELFFile(path: path) else { return }
    _ = (file.interpreter, file.neededLibraries, file.buildID, file.isStaticProgram)
    let functions = file.functions()
    for address in [0, 0x1000, 0x1130, 0x4000, .max] as [UInt64] {
      _ = (functions.function(at: address), file.code(of: address))
    }
    _ = file.defined(among: ["main", "malloc"])
    _ = file.addresses(ofFunctions: ["main"])
    _ = file.functionNames(containing: ["ma"])
  }

  /// The same bytes as the memory of a process.
  private static func readLoaded(_ bytes: [UInt8]) {
    guard let memory = try? TargetMemory(of: getpid()) else { return }
    bytes.withUnsafeBytes { bytes in
      let start = UInt64(UInt(bitPattern: bytes.baseAddress))
      guard let image = TargetImage(path: "", start: start, memory: memory) else { return }
      for name in ["main", "malloc"] { _ = image.symbol(name) }
      _ = image.find([0x0F, 0x05])
    }
  }

  private static func readMaps(_ bytes: [UInt8]) {
    let map = MemoryMap(text: bytes)
    for region in map.regions { _ = map.region(containing: region.start) }
    _ = (map.region(containing: .max), map.imageStarts)
  }

  /// Rules, and a report for them to match.
  private static func readSuppressions(_ text: String) {
    var suppressions = Suppressions()
    guard (try? suppressions.add(text, file: "input")) != nil else { return }
    _ = LeakReport(analyzing: [ReportInput(Snapshot())], options: ReportOptions(suppressions: suppressions))
  }

  private static func readName(_ name: String) {
    let readable = Demangler.readable(name)
    for text in [name, readable] {
      _ = FunctionName.simplified(text)
      _ = FunctionName(text)
      _ = FunctionName.withoutThunks(text)
      _ = SymbolText.short(text)
    }
  }

  private static func readReport(_ data: Data) {
    if let report = try? JSONRenderer.parse(data) { render(report) }
  }

  /// A request, and whether its headers let it pass: nothing is asked of the process.
  private static func readRequest(_ bytes: [UInt8]) {
    guard case .request(let request) = HTTPHead.parse(bytes) else { return }
    for hosts in [UndeadDebugService.Hosts.any, .loopback(port: 6060), .named(["a", "b:1", "[::1]:2"])] {
      _ = service.refusal(of: request, hosts: hosts)
    }
  }

  private static let service = UndeadDebugService(configuration: .init(labels: [:]))

  /// What was found in what writers wrote.
  nonisolated(unsafe) private(set) static var problems = 0

  private static func write(_ findings: HostileFindings, _ writers: [Writer]) {
    for writer in writers {
      guard let problem = writer.problem(findings) else { continue }
      #if FUZZING
        fatalError(problem)
      #else
        print(problem)
        problems += 1
      #endif
    }
  }

  /// A file without a name, which all inputs of the process are written to in turn.
  private static let file: CInt = {
    var path = Array("/dev/shm/undead-fuzz-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    precondition(descriptor >= 0, "no file can be made in /dev/shm")
    unlink(path)
    return descriptor
  }()

  /// Calls `body` with the path of a file that has these bytes.
  private static func withFile(_ bytes: [UInt8], _ body: (String) -> Void) {
    precondition(ftruncate(file, 0) == 0 && pwrite(file, bytes, bytes.count, 0) == bytes.count, "/dev/shm is full")
    body("/proc/self/fd/\(file)")
  }
}
