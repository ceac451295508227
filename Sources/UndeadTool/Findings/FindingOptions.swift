/// What is to be done with findings when they are made.
struct FindingOptions: ParsableArguments {
  @Option(
    "--on-finding <command>",
    help:
      "Run this command of /bin/sh for each finding when it is made, with the report (JSON) on its standard input and "
      + "facts in UNDEAD_FINDING_...: one at a time, 20 an hour, 60 s each.",
    brief: "run a command for each finding, with its report on standard input")
  var onFinding: String?

  func validate() throws {
    if onFinding?.allSatisfy(\.isWhitespace) == true {
      throw ValidationError("--on-finding: give a command, such as 'cat >> findings.json'")
    }
  }
}
