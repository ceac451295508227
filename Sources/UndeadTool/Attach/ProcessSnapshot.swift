import Glibc
import UndeadAttach
import UndeadReport
import UndeadSystem

/// A snapshot of a running process: of one under the tool written by the instrument in it, of any other by a copy of the process.
struct ProcessSnapshot {
  /// Seconds that a copy may work.
  static let copyTimeout = 120.0

  /// A name under which the tool can read it, as long as this lives.
  let path: String
  /// Finds the names of the program's code, where its files are for the tool.
  let symbolizer: Symbolizer
  /// True if a copy wrote it: what leaked has to be there in a second one, too.
  let isOfCopy: Bool
  /// Of a heap: what the process had beside memory at that moment.
  let resources: ProcessResources?
  /// The open file, which has no other name.
  private let file: AnyObject

  /// - Parameter timeout: in seconds; nil for the usual.
  init(of pid: pid_t, for look: Look, timeout: Double?) throws(ToolError) {
    if try Self.needsCopy(pid) {
      try self.init(copyOf: pid, for: look, timeout: timeout)
    } else {
      // The calls that threads wait in are those before they are stopped.
      let resources = look.includesHeap ? ProcessResources(of: "\(pid)") : nil
      let request = try SnapshotRequest(of: pid, kind: look.includesHeap ? .heap : .snapshot)
      self.init(
        try request.wait(timeout: timeout ?? AskedProgram.defaultTimeout, progress: Progress()), resources: resources)
    }
  }

  init(_ written: SessionFile, resources: ProcessResources? = nil) {
    self.resources = resources
    written.remove()
    (path, symbolizer, isOfCopy, file) = (written.path, Symbolizer(), false, written)
  }

  /// Copies the process, and has the copy report it.
  ///
  /// - Parameter timeout: in seconds; nil for the usual.
  init(copyOf pid: pid_t, for look: Look, timeout: Double? = nil) throws(ToolError) {
    let library = try PreloadLibrary.ofThisTool().path
    // A census is taken again and again: nothing is shown.
    let progress = look == .census ? Progress(isOn: false) : Progress()
    progress.show("looking at a copy of process \(pid)")
    defer { progress.clear() }
    resources = look.includesHeap ? ProcessResources(of: "\(pid)") : nil
    do throws(AttachError) {
      let written = try LiveReplica.look(at: pid, for: look, library: library, limit: timeout ?? Self.copyTimeout)
      (path, isOfCopy, file) = (written.path, true, written)
    } catch {
      throw ToolError(error)
    }
    symbolizer = LiveCheck.symbolizer(of: pid)
  }

  /// True for a process that was not started by `undead run`. Its main thread may have ended.
  static func needsCopy(_ pid: pid_t) throws(ToolError) -> Bool {
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
