import Glibc

/// Where files of a process are found: it may see another file system, and its executable may have been replaced.
public struct TargetFiles: Sendable {
  private let root: String
  private let executable: String
  private let executableLink: String

  public init(of pid: pid_t) {
    let own = ProcFile.linkTarget("/proc/self/ns/mnt")
    let theirs = ProcFile.linkTarget("/proc/\(pid)/ns/mnt")
    let directory = ProcFile.linkTarget("/proc/\(pid)/root") ?? "/"
    root = own == theirs && directory == "/" ? "" : "/proc/\(pid)/root"
    executableLink = "/proc/\(pid)/exe"
    executable = ProcFile.linkTarget(executableLink) ?? ""
  }

  /// A name for the tool of what the process calls `path`.
  public func path(of path: String) -> String {
    // A link of the system's, which leads to the very file, also if the name is gone.
    if path == executable || "\(path) (deleted)" == executable { return executableLink }
    return root + path
  }
}
