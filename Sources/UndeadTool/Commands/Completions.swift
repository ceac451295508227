import ArgumentParser
import Glibc

extension CompletionKind {
  /// Processes that `undead run` or `undead test` started.
  static var checkedProcesses: CompletionKind {
    .custom { _, _, _ in SessionDirectory.runningProcesses().map(String.init) }
  }

  /// Processes of this user.
  static var ownProcesses: CompletionKind {
    .custom { _, _, _ in
      System.names(in: "/proc").filter { name in
        pid_t(name) != nil && System.status(of: "/proc/\(name)").map { $0.st_uid == getuid() } ?? false
      }
    }
  }
}
