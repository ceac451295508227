import Glibc

/// The program that a command asks something of, which `undead run` started.
struct AskedProgram: ParsableArguments {
  static let defaultTimeout = 30.0

  @Option("--timeout <seconds>", help: "How long to wait for the program.", brief: "how long to wait for the program")
  var timeout = Self.defaultTimeout

  @Argument(
    "<pid>", help: "Process id of the program, or of the 'undead run' that started it.", completion: .checkedProcesses)
  var pid: Int32 = 0

  func validate() throws {
    try Self.check(pid: pid)
    try Self.check(timeout: timeout)
  }

  static func check(pid: pid_t) throws {
    if pid < 1 { throw ValidationError("'\(pid)' is no process id") }
  }

  static func check(timeout: Double) throws {
    if !(timeout > 0 && timeout < 1e6) { throw ValidationError("--timeout \(timeout): give a number of seconds") }
  }
}
