import UndeadSystem

/// The list of files that git knows of a working tree.
enum GitIndex {
  private static let limit = 1 << 30

  /// True if git tracks a file, or if that cannot be found out.
  ///
  /// - Parameters:
  ///   - parts: of its path below `folder`.
  ///   - folder: a path without links.
  static func tracks(_ parts: [String], in folder: String) -> Bool {
    var place = folder
    var parts = parts
    while System.status(of: ProjectFiles.join(place, ".git")) == nil {
      guard let slash = place.lastIndex(of: "/"), place != "/" else { return false }
      parts.insert(String(place[place.index(after: slash)...]), at: 0)
      place = slash == place.startIndex ? "/" : String(place[..<slash])
    }
    guard let bytes = index(of: ProjectFiles.join(place, ".git")) else { return errno != ENOENT }
    // Of the fourth version names are not written out.
    guard bytes.count > 12, bytes.starts(with: Array("DIRC".utf8)), bytes[7] < 4 else { return true }
    let name = Array(parts.joined(separator: "/").utf8) + [0]
    return contains(bytes, name)
  }

  private static func contains(_ bytes: [UInt8], _ name: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { index in
      var start = 0
      while index.count - start >= name.count {
        guard let first = memchr(index.baseAddress! + start, Int32(name[0]), index.count - start) else { return false }
        start = UnsafeRawPointer(first) - index.baseAddress!
        if index.count - start >= name.count, memcmp(first, name, name.count) == 0 { return true }
        start += 1
      }
      return false
    }
  }

  private static func index(of git: String) -> [UInt8]? {
    var git = git
    if !System.isDirectory(git) {
      // Of a worktree: the path of its folder.
      guard let text = read(git, limit: Int(PATH_MAX)), text.starts(with: Array("gitdir: ".utf8)) else { return nil }
      let path = String(
        decoding: text.dropFirst("gitdir: ".utf8.count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      git = path.hasPrefix("/") ? path : ProjectFiles.join(String(git.dropLast(".git".count)), path)
    }
    return read(ProjectFiles.join(git, "index"), limit: limit)
  }

  private static func read(_ path: String, limit: Int) -> [UInt8]? {
    guard let file = RegularFile.open(path) else { return nil }
    defer { close(file.descriptor) }
    return RegularFile.content(of: file.descriptor, limit: limit)
  }
}
