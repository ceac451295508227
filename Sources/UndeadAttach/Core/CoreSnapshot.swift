/// What a core file holds, as a snapshot file.
package struct CoreSnapshot {
  package let file: ReplicaFile
  package let notes: [String]

  /// The program's files: as it knew them, and where they are.
  package let files: [(path: String, place: String)]

  /// Looks at a core file as at a program that stands still.
  ///
  /// - Parameters:
  ///   - search: where the files are that the program had mapped.
  ///   - library: the path of the instrument.
  package static func take(
    of core: CoreFile, for look: Look, search: BinarySearch, library: String
  ) throws(AttachError) -> CoreSnapshot {
    var search = search
    search.library = library
    let source = try ReplicaSource(core: core, search: search)
    let file = try TracerThread.run { () throws(AttachError) -> ReplicaFile in
      do throws(AttachError) {
        let replica = try ResurrectedReplica(of: source, name: "the program")
        defer { replica.end() }
        var request = ReplicaRequest()
        request.look = look
        request.isCore = true
        return try replica.run(library: library, request: request)
      } catch {
        throw AttachError(error.kind, "cannot look into the core file '\(core.path)': \(error)")
      }
    }
    let notes = source.notes + (file.message.isEmpty ? [] : [file.message])
    return CoreSnapshot(file: file, notes: notes, files: source.files)
  }
}
