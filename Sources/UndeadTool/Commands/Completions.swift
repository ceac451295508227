import ArgumentParser
import UndeadSystem

extension CompletionKind {
  /// Processes that `undead run` or `undead test` started.
  static var checkedProcesses: CompletionKind {
    .custom { _, _, _ in SessionDirectory.runningProcesses().map(String.init) }
  }

  /// Processes of this user, and files by their whole path or below the working directory.
  static var ownProcessesAndFiles: CompletionKind {
    .custom { words, _, prefix in
      let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
      let files = Folder.names(in: folder.isEmpty ? "." : folder).map { folder + $0 }
      return files.filter { $0.hasPrefix(prefix) && (!$0.hasPrefix(".") || prefix.hasPrefix(".")) } + processes
    }
  }

  static var ownProcesses: CompletionKind {
    .custom { _, _, _ in processes }
  }

  private static var processes: [String] {
    Folder.names(in: "/proc").filter { name in
      pid_t(name) != nil && System.status(of: "/proc/\(name)").map { $0.st_uid == getuid() } ?? false
    }
  }
}
