import UndeadSystem

extension Completion {
  /// Processes that `undead run` or `undead test` started.
  static var checkedProcesses: Completion { .words { SessionDirectory.runningProcesses().map(String.init) } }

  static var ownProcesses: Completion { .words { processes } }
  static var ownProcessesAndFiles: Completion { .filesAnd { processes } }

  private static var processes: [String] {
    Folder.names(in: "/proc").filter { name in
      pid_t(name) != nil && System.status(of: "/proc/\(name)").map { $0.st_uid == getuid() } ?? false
    }
  }
}
