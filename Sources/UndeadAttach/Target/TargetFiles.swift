import UndeadSystem

/// Where files of a process are found: it may see another file system, and its executable may have been replaced.
package struct TargetFiles: Sendable {
  /// A way to the process's root that works from here.
  private let root: String
  /// The process's root as paths tell it, if it is not the root of its file systems; else "".
  private let rootName: String
  private let executable: String
  private let executableLink: String

  package init(of pid: pid_t) {
    root = "/proc/\(pid)/root"
    let name = SymbolicLink.target(root) ?? "/"
    rootName = name == "/" ? "" : name
    executableLink = "/proc/\(pid)/exe"
    executable = SymbolicLink.target(executableLink) ?? ""
  }

  /// A name for the tool of what the mappings of the process call `path`.
  package func path(of path: String) -> String {
    // A link of the system's, which leads to the very file, even if the name is gone.
    if path == executable || "\(path) (deleted)" == executable { return executableLink }
    let candidates = [root + path, root + inside(path), path]
    return candidates.first { access($0, F_OK) == 0 } ?? path
  }

  /// What the process itself calls it.
  func inside(_ path: String) -> String {
    !rootName.isEmpty && path.hasPrefix("\(rootName)/") ? String(path.dropFirst(rootName.utf8.count)) : path
  }

  /// True if paths are not those that the process itself knows.
  var isElsewhere: Bool { !rootName.isEmpty }
}
