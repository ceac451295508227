import UndeadReport
import UndeadSystem

/// Snapshot files, with errors that name the file.
enum SnapshotFile {
  /// Reads a snapshot that the instrument just wrote.
  static func load(_ path: String) throws(ToolError) -> Snapshot {
    do {
      return try Snapshot(contentsOfFile: path)
    } catch {
      throw .failure("the snapshot of the program cannot be read: \(error)")
    }
  }

  static func load(_ file: SessionFile) throws(ToolError) -> Snapshot {
    try file.withPath { path throws(ToolError) in try load(path) }
  }

  /// Makes sure, before any work is done, that a snapshot can be kept at `path`.
  ///
  /// - Parameter option: the one that names it.
  static func checkWritable(_ path: String, option: String = "--save") throws(ToolError) {
    guard let code = FileReplacement.obstacle(at: path) else { return }
    throw .misuse(
      "cannot keep the snapshot in '\(path)' (\(option)): \(SystemError.text(code)); name a file that you can write")
  }

  static func save(_ snapshot: Snapshot, to path: String) throws(ToolError) {
    if let code = FileReplacement.write(snapshot.encoded(), to: path) {
      throw .failure("cannot keep the snapshot in '\(path)': \(SystemError.text(code))")
    }
  }
}
