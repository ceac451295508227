import UndeadAttach
import UndeadHeap
import UndeadReport
import UndeadSystem

/// Where a heap comes from: a file, a core file, or a process that is asked for one.
struct HeapSource {
  private let path: String
  private let name: String
  let pid: pid_t?
  private let answer: ProcessSnapshot?
  private let core: SavedCore?

  init(_ input: String, for look: Look = .heap, timeout: Double?, core options: CoreOptions) throws(ToolError) {
    if let pid = Self.process(input) {
      self = try HeapSource(process: pid, for: look, timeout: timeout)
      return
    }
    name = input
    core = SavedCore.claims(input) ? try SavedCore(input, for: look, options) : nil
    pid = nil
    answer = nil
    path = core?.path ?? input
  }

  /// The heap of a running process.
  ///
  /// - Parameter timeout: in seconds; nil for the usual.
  init(process pid: pid_t, for look: Look = .heap, timeout: Double?) throws(ToolError) {
    name = "\(pid)"
    core = nil
    self.pid = pid
    let answer = try ProcessSnapshot(of: pid, for: look, timeout: timeout)
    path = answer.path
    self.answer = answer
  }

  /// The heap that a process under the tool has written.
  init(_ written: SessionFile, of pid: pid_t) {
    name = "\(pid)"
    core = nil
    self.pid = pid
    let answer = ProcessSnapshot(written)
    path = answer.path
    self.answer = answer
  }

  /// The process that a word of the command line names; nil for a file. A file may have a number for a name.
  static func process(_ input: String) -> pid_t? {
    guard System.status(of: input) == nil, let pid = pid_t(input), pid > 0 else { return nil }
    return pid
  }

  /// Keeps the heap, with the names of its code, to be shown elsewhere.
  func save(to destination: String) throws(ToolError) {
    guard core != nil || pid != nil else {
      throw .misuse("--save keeps the heap of a process or a core file, and '\(name)' is neither; leave it out")
    }
    try SavedHeap.keep(
      path, of: try SnapshotFile.load(path), ending: core?.ending, at: destination,
      resources: answer?.resources, symbolizer: symbolizer)
  }

  var symbolizer: Symbolizer { core?.symbolizer ?? answer?.symbolizer ?? Symbolizer() }

  func heap() throws(ToolError) -> LoadedHeap {
    let file = try file()
    guard file.hasGraph else {
      guard pid == nil else { throw .failure("process \(name) wrote no heap: \(Self.reason(file))") }
      let hint =
        file.isCensus
        ? "it is a census, counts by type for 'undead watch'" : "it is a snapshot of leaks, for 'undead leaks'"
      throw .misuse(
        "'\(name)' holds no heap: \(hint); take one with 'undead heap PID --save FILE' "
          + "or 'undead run --heap FILE -- PROGRAM'")
    }
    do throws(SnapshotError) {
      if let resources = answer?.resources { file.resources = resources }
      return try LoadedHeap(file)
    } catch {
      throw problem("\(error)")
    }
  }

  private func file() throws(ToolError) -> HeapFile {
    if System.isDirectory(path) { throw .misuse("'\(name)' is a directory; name a heap file") }
    guard let status = System.status(of: path) else {
      throw .misuse(
        "there is no file '\(name)': \(SystemError.text()); name a heap file, or the id of a running process")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .misuse("'\(name)' is no regular file, and a heap is mapped into memory; copy it into one")
    }
    do throws(SnapshotError) {
      return try HeapFile(path: path)
    } catch {
      throw problem("\(error)")
    }
  }

  private func problem(_ text: String) -> ToolError {
    pid == nil
      ? .misuse("cannot read '\(name)': \(text)") : .failure("the heap of process \(name) cannot be read: \(text)")
  }

  private static func reason(_ file: HeapFile) -> String {
    let notes = file.notes
    return file.snapshot.premises?.leaksAreUnknown
      ?? notes.first { $0.hasPrefix("the heap could not be written") }
      ?? "the library in the program does not know how to"
  }
}
