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
  init(of pid: pid_t, wantsHeap: Bool, wantsSuspects: Bool = true, timeout: Double?) throws(ToolError) {
    if try Self.needsCopy(pid) {
      try self.init(copyOf: pid, wantsHeap: wantsHeap, wantsSuspects: wantsSuspects, timeout: timeout)
    } else {
      let request = try SnapshotRequest(of: pid, kind: wantsHeap ? .heap : .snapshot)
      let resources = wantsHeap ? ProcessResources(of: "\(pid)") : nil
      self.init(try request.wait(timeout: timeout ?? AskedProgram.defaultTimeout, progress: Progress()), resources)
    }
  }

  private init(_ written: SessionFile, _ resources: ProcessResources?) {
    self.resources = resources
    written.remove()
    (path, symbolizer, isOfCopy, file) = (written.path, Symbolizer(), false, written)
  }

  /// Copies the process, and has the copy report it.
  ///
  /// - Parameters:
  ///   - wantsCensus: true for nothing but the number of blocks of each type, which is taken again and again: nothing is shown.
  ///   - timeout: in seconds; nil for the usual.
  init(
    copyOf pid: pid_t, wantsHeap: Bool = false, wantsCensus: Bool = false, wantsSuspects: Bool = true,
    timeout: Double? = nil
  ) throws(ToolError) {
    let library = try PreloadLibrary.ofThisTool().path
    let progress = Progress(isOn: !wantsCensus)
    progress.show("looking at a copy of process \(pid)")
    defer { progress.clear() }
    resources = wantsHeap ? ProcessResources(of: "\(pid)") : nil
    do throws(AttachError) {
      let written = try LiveReplica.look(
        at: pid, library: library, wantsHeap: wantsHeap, wantsCensus: wantsCensus, wantsSuspects: wantsSuspects,
        limit: timeout ?? Self.copyTimeout)
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
