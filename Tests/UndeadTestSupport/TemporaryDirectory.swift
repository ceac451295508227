import Foundation

/// A directory that goes away with the value that made it, and at the latest when the test process ends.
package final class TemporaryDirectory: Sendable {
  package let url: URL

  package init() throws {
    url = try Self.untilExit()
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  package var path: String { url.path }

  package func path(_ name: String) -> String { url.appending(path: name).path }

  /// The text of a file; empty if there is none.
  package func contents(_ name: String) -> String {
    (try? Data(contentsOf: url.appending(path: name))).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// A new directory that stays until the test process ends, for what is made once and used by many tests.
  package static func untilExit() throws -> URL {
    let directory = try root.get().appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    return directory
  }

  private static let prefix = "undead-tests-"

  /// What all files of this process lie in. It stays locked, so that others see that it is in use.
  private static let root = Result { () throws -> URL in
    removeAbandoned()
    var template = Array(FileManager.default.temporaryDirectory.path.utf8CString.dropLast())
    template += Array("/\(prefix)XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // Programs under test may become another user.
    chmod(path, 0o755)
    flock(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), LOCK_EX | LOCK_NB)
    owner = getpid()
    atexit { TemporaryDirectory.removeRoot() }
    return URL(filePath: path)
  }

  // Set before the handler that reads it is registered.
  nonisolated(unsafe) private static var owner: pid_t = 0

  private static func removeRoot() {
    // A forked child that exits runs the handler, too.
    guard getpid() == owner, let root = try? root.get() else { return }
    try? FileManager.default.removeItem(at: root)
  }

  /// Removes what test processes left that were killed.
  private static func removeAbandoned() {
    let manager = FileManager.default
    let entries = try? manager.contentsOfDirectory(
      at: manager.temporaryDirectory, includingPropertiesForKeys: [.contentModificationDateKey])
    for entry in entries ?? [] where entry.lastPathComponent.hasPrefix(prefix) {
      // A young one may not be locked yet.
      let change = try? entry.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
      guard let change, change.timeIntervalSinceNow < -60 else { continue }
      let file = open(entry.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard file >= 0 else { continue }
      if flock(file, LOCK_EX | LOCK_NB) == 0 { try? manager.removeItem(at: entry) }
      close(file)
    }
  }
}
