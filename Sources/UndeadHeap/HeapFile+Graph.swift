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
