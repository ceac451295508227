/// What a core file holds, as a snapshot file.
public enum CoreSnapshot {
  /// Looks at a core file as at a program that stands still.
  ///
  /// - Parameters:
  ///   - path: of the core file.
  ///   - search: where the files are that the program had mapped.
  ///   - library: the path of the instrument.
  ///   - wantsHeap: true for the whole heap, not only what leaked.
  /// - Throws: `AttachError` that names the file, what is wrong and what to do.
  public static func take(
    of path: String, search: BinarySearch, library: String, wantsHeap: Bool
  ) throws(AttachError) -> ReplicaFile {
    let source = try ReplicaSource(core: try CoreFile(path: path), search: search)
    return try TracerThread.run { () throws(AttachError) -> ReplicaFile in
      do throws(AttachError) {
        let replica = try ResurrectedReplica(of: source, name: "the program of the core file '\(path)'")
        defer { replica.end() }
        var request = ReplicaRequest()
        request.wantsHeap = wantsHeap
        request.isCore = true
        return try replica.run(library: library, request: request)
      } catch {
        throw AttachError(error.kind, "cannot look into the core file '\(path)': \(error)")
      }
    }
  }
}
