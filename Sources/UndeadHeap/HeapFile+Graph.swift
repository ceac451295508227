// What reads a heap reads its file, too.
@_exported import UndeadHeapFile
import UndeadReport

extension HeapFile {
  /// Decodes the graph.
  ///
  /// - Throws: `SnapshotError` if it is damaged.
  package func graph() throws(SnapshotError) -> HeapGraph {
    var decoder = HeapStreamDecoder(self)
    return try decoder.decode()
  }
}

extension Snapshot {
  /// When it was taken, in UTC, ISO 8601; empty if that is not known.
  package var takenAt: String {
    let start = metadata("startedAt").flatMap(Double.init) ?? .nan
    let duration = metadata("durationSeconds").flatMap(Double.init) ?? 0
    return Timestamp.text(secondsSince1970: "\(start + duration)")
  }
}
