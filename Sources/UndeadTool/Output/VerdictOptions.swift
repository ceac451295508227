import Glibc
import UndeadReport

/// Options that turn findings into an exit status.
struct VerdictOptions: ParsableArguments {
  @Option(
    "--fail-on <kinds>",
    help: "What counts as a failure: any of leaks, suspects, zombies, known, incomplete, separated by commas, or none.",
    brief: "leaks, suspects, zombies, known, incomplete or none",
    completion: .words { FailureCondition.allCases.map(\.rawValue) + ["none"] }, transform: VerdictOptions.parse)
  var failOn: Set<FailureCondition> = FailureCondition.standard

  @Option("--exit-code <status>", help: "Exit status for a failure, 0 to only report.")
  var exitCode: Int32 = ExitStatus.findings

  func validate() throws {
    guard (0...255).contains(exitCode) else {
      throw ValidationError("--exit-code \(exitCode): give an exit status from 0 to 255")
    }
  }

  @Sendable static func parse(_ text: String) throws -> Set<FailureCondition> {
    if text == "none" { return [] }
    var kinds: Set<FailureCondition> = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let kind = FailureCondition(rawValue: word.filter { $0 != " " }) else {
        let known = FailureCondition.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("'\(word)' is none of \(known); separate several by commas")
      }
      kinds.insert(kind)
    }
    return kinds
  }
}
