import UndeadSystem

/// A directory that only this user can enter, for the files of one request; it goes with this object.
///
/// While it is there it is locked, so that the next one can tell those of processes that were killed, and take them away.
package final class PrivateDirectory: Sendable {
  let path: String

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    private let parent: Folder
    private let name: String
    private let folder: Folder
    private let lock: Int32
    private static let prefix = "undead-service-"

    /// - Parameter parent: nil for `TMPDIR`, else `/tmp`.
    /// - Throws: ``UndeadServiceError`` that names the directory and what to do.
    init(in parent: String? = nil) throws(UndeadServiceError) {
      let parent = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
      func failure() -> UndeadServiceError {
        UndeadServiceError(
          "cannot make a directory in '\(parent)': \(SystemError.text()); give one that can be written, with room for "
            + "the heap, in Configuration.temporaryDirectory or TMPDIR")
      }
      // The last component may be a link.
      guard let place = Folder("\(parent)/.") else { throw failure() }
      Self.removeLeftOvers(in: place)
      let name = RandomName.make(Self.prefix)
      guard let folder = place.createFolder(name, permissions: 0o700) else { throw failure() }
      (self.parent, self.name, self.folder) = (place, name, folder)
      path = "\(parent)/\(name)"
      lock = folder.openListed()
      if lock >= 0 { flock(lock, LOCK_EX | LOCK_NB) }
    }

    /// Takes it away now: a thread that has done its work may let go of this object after the answer was given.
    package func remove() { parent.remove(name, openAs: folder) }

    deinit {
      remove()
      if lock >= 0 { close(lock) }
    }

    /// A name in it.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    private static func removeLeftOvers(in parent: Folder) {
      for name in parent.names where name.hasPrefix(prefix) {
        guard let folder = Folder(name, in: parent), let status = folder.status else { continue }
        let lock = folder.openListed()
        guard lock >= 0 else { continue }
        defer { close(lock) }
        // A directory that was made a moment ago may not be locked yet.
        guard status.st_uid == geteuid(), time(nil) - status.st_mtim.tv_sec > 60, flock(lock, LOCK_EX | LOCK_NB) == 0
        else { continue }
        parent.remove(name, openAs: folder)
      }
    }
  #else
    init(in parent: String? = nil) throws(UndeadServiceError) { throw .unsupported }

    package func remove() {}

    func file(_ name: String) -> String { "\(path)/\(name)" }
  #endif
}
