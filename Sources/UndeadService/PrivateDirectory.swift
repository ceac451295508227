import UndeadSystem

/// A directory that only this user can enter, for the files of one request; it goes with this object.
///
/// While it is there it is locked, so that the next one can tell those of processes that were killed, and take them away.
final class PrivateDirectory: Sendable {
  let path: String

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    private let descriptor: Int32
    private static let prefix = "undead-service-"

    /// - Parameter parent: nil for `TMPDIR`, else `/tmp`.
    /// - Throws: ``UndeadServiceError`` that names the directory and what to do.
    init(in parent: String? = nil) throws(UndeadServiceError) {
      let parent = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
      Self.removeLeftOvers(in: parent)
      var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else {
        throw UndeadServiceError(
          "cannot make a directory in '\(parent)': \(SystemError.text()); give one that can be written, with room for "
            + "the heap, in Configuration.temporaryDirectory or TMPDIR")
      }
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      if descriptor >= 0 { flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    /// Takes it away now: a thread that has done its work may let go of this object after the answer was given.
    func remove() { Self.empty(path) }

    deinit {
      Self.empty(path)
      if descriptor >= 0 { close(descriptor) }
    }

    /// A name in it.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    private static func removeLeftOvers(in parent: String) {
      for name in entries(parent) where name.hasPrefix(prefix) {
        let path = "\(parent)/\(name)"
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { continue }
        defer { close(descriptor) }
        var status = stat()
        // A directory that was made a moment ago may not be locked yet.
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), time(nil) - status.st_mtim.tv_sec > 60,
          flock(descriptor, LOCK_EX | LOCK_NB) == 0
        else { continue }
        empty(path)
      }
    }

    /// Takes a directory of files away.
    private static func empty(_ path: String) {
      for name in entries(path) { unlink("\(path)/\(name)") }
      rmdir(path)
    }

    private static func entries(_ path: String) -> [String] {
      guard let directory = opendir(path) else { return [] }
      defer { closedir(directory) }
      var names: [String] = []
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != "." && name != ".." { names.append(name) }
      }
      return names
    }
  #else
    init(in parent: String? = nil) throws(UndeadServiceError) { throw .unsupported }

    func remove() {}

    func file(_ name: String) -> String { "\(path)/\(name)" }
  #endif
}
