import Glibc
import UndeadAttach
import UndeadReport

/// A look at a process that is not under the tool: what a copy of it wrote.
struct LiveLook {
  /// Seconds that a copy may work.
  static let defaultTimeout = 120.0

  private let file: ReplicaFile
  /// Where the program's files are for the tool.
  let symbolizer: Symbolizer

  /// Copies the process, and has the copy tell of it.
  ///
  /// - Parameter timeout: in seconds.
  /// - Throws: `ToolError` that says why it cannot be looked at.
  init(at pid: pid_t, wantsHeap: Bool, timeout: Double, progress: Progress = Progress()) throws(ToolError) {
    let library = try PreloadLibrary.ofThisTool().path
    let files = TargetFiles(of: pid)
    symbolizer = Symbolizer(files: { files.path(of: $0) })
    progress.show("looking at a copy of process \(pid)")
    defer { progress.clear() }
    do throws(AttachError) {
      file = try LiveReplica.look(at: pid, library: library, wantsHeap: wantsHeap, limit: timeout)
    } catch {
      throw ToolError(error)
    }
  }

  /// A name under which the tool can read what was written, as long as this lives.
  var path: String { file.path }

  /// True for a process that was not started by `undead run`. Its main thread may have ended.
  ///
  /// - Throws: `ToolError` (misuse) if there is no such process.
  static func isNeeded(for pid: pid_t) throws(ToolError) -> Bool {
    guard System.status(of: "/proc/\(pid)") != nil else { throw .misuse("no such process: \(pid)") }
    guard SessionDirectory.program(of: pid) == nil else { return false }
    return try SessionDirectory.containing(pid) == nil
  }
}

extension ToolError {
  init(_ error: AttachError) {
    switch error.kind {
    case .misuse: self = .misuse(error.message)
    case .failure, .again: self = .failure(error.message)
    }
  }
}
