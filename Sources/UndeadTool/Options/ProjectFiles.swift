import Glibc

/// Files that a project has for the tool.
enum ProjectFiles {
  /// The package that a directory is in, else the repository; nil if it is in none.
  static func root(of directory: String) -> String? {
    for mark in ["Package.swift", ".git"] {
      if let root = parents(of: directory).first(where: { access(join($0, mark), F_OK) == 0 }) { return root }
    }
    return nil
  }

  /// The nearest file of a name in `directory` or its parents, up to the root of the package.
  ///
  /// Outside of packages and repositories only the directory itself counts: its parents belong to others.
  static func nearest(_ name: String, from directory: String) -> String? {
    var candidates = parents(of: directory)
    // Nothing is asked of the system for the root where there is no such file at all.
    guard candidates.contains(where: { access(join($0, name), F_OK) == 0 }) else { return nil }
    let last = root(of: directory) ?? directory
    candidates = Array(candidates.prefix { $0.utf8.count >= last.utf8.count })
    return candidates.map { join($0, name) }.first { access($0, F_OK) == 0 }
  }

  /// The directory, then what it is in, up to "/".
  private static func parents(of directory: String) -> [String] {
    var parents = [directory]
    while let slash = parents.last?.lastIndex(of: "/"), parents.last != "/" {
      let parent = parents[parents.count - 1][..<slash]
      parents.append(parent.isEmpty ? "/" : String(parent))
    }
    return parents
  }

  static func join(_ directory: String, _ name: String) -> String {
    directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }
}
