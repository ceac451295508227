import UndeadSystem

/// Finds the file that the system would run for a command, as `execvp` does.
enum ProgramLookup {
  /// Resolves `command` by `PATH` unless it has a slash.
  static func find(_ command: String, path: String?) throws(ToolError) -> String {
    guard !command.isEmpty else {
      throw .misuse("the program's name is empty; usage: undead run [options] -- PROGRAM ARGUMENTS...")
    }
    if command.contains("/") {
      try check(command)
      return command
    }
    var notExecutable: String?
    for directory in (path ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false) {
      let candidate = directory.isEmpty ? "./\(command)" : "\(directory)/\(command)"
      guard let status = System.status(of: candidate), status.st_mode & S_IFMT == S_IFREG else { continue }
      if access(candidate, X_OK) == 0 { return candidate }
      notExecutable = notExecutable ?? candidate
    }
    if let notExecutable {
      throw .misuse("'\(notExecutable)' is not executable; set its permission with: chmod +x '\(notExecutable)'")
    }
    let hint = access(command, F_OK) == 0 ? "; to run the one in this directory, write './\(command)'" : ""
    throw .misuse("no program '\(command)' in PATH\(hint)")
  }

  private static func check(_ path: String) throws(ToolError) {
    guard let status = System.status(of: path) else {
      let code = errno
      if code == ENOENT { throw .misuse("no such program: '\(path)'; check the path, or build it first") }
      throw .misuse("cannot run '\(path)': \(SystemError.text(code))")
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      throw .misuse("'\(path)' is a directory, not a program; name the executable inside it")
    }
    if access(path, X_OK) != 0 {
      let code = errno
      let advice =
        code == EACCES ? "it is not executable; set its permission with: chmod +x '\(path)'" : SystemError.text(code)
      throw .misuse("cannot run '\(path)': \(advice)")
    }
  }
}
