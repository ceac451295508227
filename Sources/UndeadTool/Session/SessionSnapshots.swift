import UndeadReport

/// The snapshots of a session, each read once.
final class SessionSnapshots {
  private let session: SessionFolder
  private var loaded: [String: Snapshot] = [:]
  private var damage: ToolError?

  init(session: SessionFolder) {
    self.session = session
  }

  /// True if the snapshot was written at the end of its process.
  func isFinal(_ file: String) -> Bool {
    do throws(ToolError) {
      let snapshot = try SnapshotFile.load(session.snapshot(named: file))
      loaded[file] = snapshot
      return snapshot.metadata("trigger").map { $0 == "exit" || $0.hasPrefix("signal") } ?? false
    } catch {
      damage = damage ?? error
      return false
    }
  }

  /// Those of the given files that were asked about.
  func snapshots(_ files: [String]) throws(ToolError) -> [Snapshot] {
    if let damage { throw damage }
    return files.compactMap { loaded[$0] }
  }
}
