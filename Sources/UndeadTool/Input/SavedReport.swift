import FoundationEssentials
import UndeadReport
import UndeadSystem

/// What an earlier run left in a file: a snapshot, or a report in JSON.
enum SavedReport {
  case snapshot(Snapshot, file: String)
  case report(LeakReport)

  /// Reads a file of either kind, or looks into a core file.
  ///
  /// - Parameter core: where the files of a core file's program are; nil if there is no core file to be expected.
  init(file: String, core: CoreOptions? = nil) throws(ToolError) {
    if let core, SavedCore.claims(file) {
      self = .snapshot(try SavedCore(file, for: .leaks, core).snapshot(), file: file)
      return
    }
    if System.isDirectory(file) { throw .misuse("'\(file)' is a directory; name a file that undead wrote") }
    if Snapshot.isFile(file) {
      self = .snapshot(
        try Self.snapshot(file) { () throws(SnapshotError) in try Snapshot(contentsOfFile: file) }, file: file)
      return
    }
    try self.init(content: try InputFile.content(file, as: "'\(file)'"), file: file)
  }

  init(content: [UInt8], file: String) throws(ToolError) {
    guard Self.isJSON(content) else {
      self = .snapshot(
        try Self.snapshot(file) { () throws(SnapshotError) in try Snapshot(decoding: content) }, file: file)
      return
    }
    do throws(ReportFileError) {
      self = .report(try JSONRenderer.parse(Data(content)))
    } catch {
      throw .misuse("cannot read '\(file)': \(error)")
    }
  }

  /// JSON starts with a bracket, whatever blanks stand before it; a snapshot never does.
  static func isJSON(_ content: [UInt8]) -> Bool {
    content.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
  }

  private static func snapshot(
    _ file: String, _ read: () throws(SnapshotError) -> Snapshot
  ) throws(ToolError) -> Snapshot {
    do throws(SnapshotError) {
      return try read()
    } catch {
      throw .misuse("cannot read '\(file)': \(error)")
    }
  }
}
