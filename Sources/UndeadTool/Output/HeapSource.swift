import Glibc
import UndeadHeap
import UndeadReport

/// Where a heap comes from: a file, a core file, or a process that is asked for one.
struct HeapSource {
  private let path: String
  /// As the user named it.
  private let name: String
  /// The process that was asked.
  private let pid: pid_t?
  /// What it wrote; its name is gone.
  private let written: SessionFile?
  /// Of a process that was not under the tool.
  private let look: LiveLook?
  private let core: SavedCore?

  /// - Throws: `ToolError`: no such file or process (misuse), or the process gave no heap (failure).
  init(_ input: String, timeout: Double, core options: CoreOptions) throws(ToolError) {
    name = input
    core = SavedCore.claims(input) ? try SavedCore(input, options, wantsHeap: true) : nil
    // A file may have a number for a name.
    if System.status(of: input) == nil, let pid = pid_t(input), pid > 0 {
      self.pid = pid
      if try LiveLook.isNeeded(for: pid) {
        Message.say("process \(pid) is not under the tool; taking a copy of its memory, as 'undead attach' does")
        let look = try LiveLook(at: pid, wantsHeap: true, timeout: timeout)
        self.look = look
        written = nil
        path = look.path
      } else {
        look = nil
        let written = try SnapshotCommand.takeSnapshot(of: pid, kind: .heap, timeout: timeout)
        written.remove()
        self.written = written
        path = written.path
      }
    } else {
      pid = nil
      look = nil
      written = nil
      path = core?.path ?? input
    }
  }

  /// Keeps the heap of a core file, with the names of its code, to be shown elsewhere.
  ///
  /// - Throws: `ToolError` (misuse) if this is no core file.
  func save(to destination: String) throws(ToolError) {
    guard let core else {
      throw .misuse("--save keeps the heap of a core file, and '\(name)' is none; leave it out")
    }
    try SavedHeap.keep(
      path, of: try SnapshotFile.load(path), ending: core.ending, at: destination, symbolizer: core.symbolizer)
  }

  /// Finds the names of the program's code.
  var symbolizer: Symbolizer { core?.symbolizer ?? look?.symbolizer ?? Symbolizer() }

  /// Reads the heap.
  ///
  /// - Throws: `ToolError` that names the input and what is wrong with it.
  func heap() throws(ToolError) -> LoadedHeap {
    let file = try file()
    guard file.hasGraph else {
      guard pid == nil else { throw .failure("process \(name) wrote no heap: \(Self.reason(file))") }
      let hint =
        file.isCensus
        ? "it is a census, counts by type for 'undead watch'" : "it is a snapshot of leaks, for 'undead report'"
      throw .misuse(
        "'\(name)' holds no heap: \(hint); take one with 'undead snapshot PID --heap FILE' "
          + "or 'undead run --heap FILE -- PROGRAM'")
    }
    do throws(SnapshotError) {
      return try LoadedHeap(file)
    } catch {
      throw problem("\(error)")
    }
  }

  private func file() throws(ToolError) -> HeapFile {
    if System.isDirectory(path) { throw .misuse("'\(name)' is a directory; name a heap file") }
    guard let status = System.status(of: path) else {
      throw .misuse("there is no file '\(name)': \(System.reason()); name a heap file, or the id of a running process")
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
    let notes = file.snapshot.reportNotes
    return notes.first { $0.hasPrefix("the heap could not be written") }
      ?? "the library in the program does not know how to"
  }
}
