/// How long a process may take to be looked at.
struct CheckTime: ParsableArguments {
  @Option("--timeout <seconds>", help: "How long a check of a process may take; else 30, or 120 if it is not recorded.")
  var timeout: Double?

  func validate() throws {
    if let timeout { try AskedProgram.check(timeout: timeout) }
  }
}
