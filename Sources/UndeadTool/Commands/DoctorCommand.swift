import Glibc
import UndeadReport

/// `undead doctor`: what works here, and what to do about what does not.
struct DoctorCommand: Command {
  static let help = CommandHelp(
    name: "doctor",
    abstract: "Show what works on this machine, or with a program, and what to do about the rest.",
    examples: [
      ("undead doctor", "the machine"),
      ("undead doctor .build/debug/App", "and a program"),
    ],
    common: ["--format", "--output", "--quiet"],
    discussion: """
      Tries what the system allows, and checks a small program that leaks. With PROGRAM, reports how well that can \
      be checked. 'warn': a part does not work here. 'fail': no check is possible.

      Exit status: 1 if something fails, else 0. 64: the command line is wrong, or there is no such program.
      """)

  @Option("-f, --format <format>", help: "Form of the answer: text or json.", brief: "text or json")
  var format: AnswerFormat = .text

  @OptionGroup var answer: AnswerFile

  @Flag("-q, --quiet", help: "Show only what does not work.", brief: "only what does not work")
  var quiet = false

  @Argument("[<program>]", help: "A program to examine, looked up in PATH.", completion: .file)
  var program: String?

  func run() throws {
    let sink = try answer.sink()
    let ofProgram = try program.map { name throws(ToolError) in try ProgramChecks.all(of: name) } ?? []
    let findings = SystemChecks().all() + ToolChecks.all() + ofProgram
    switch format {
    case .text: try sink.write(Self.text(findings.filter { !quiet || $0.state > .ok }).utf8)
    case .json: try sink.write([UInt8](try JSONRenderer.encode(Self.document(findings))))
    }
    if findings.contains(where: { $0.state == .fail }) { throw ExitCode(1) }
  }

  struct Document: Encodable {
    var version = 1
    var tool: LeakReport.Tool
    var state: Diagnosis.State
    var checks: [Diagnosis]
  }

  static func document(_ findings: [Diagnosis]) -> Document {
    Document(tool: ReportPipeline.tool, state: findings.map(\.state).max() ?? .ok, checks: findings)
  }

  /// A line for each finding, and below it what to do.
  static func text(_ findings: [Diagnosis]) -> String {
    let width = findings.map(\.check.count).max() ?? 0
    let lines = findings.flatMap { finding -> [TextLine] in
      let (state, check) = (TextLine(finding.state.rawValue).padded(4), TextLine(finding.check).padded(width))
      let advice: TextLine? = finding.advice.map { "\(TextLine.blanks(width + 8))-> \($0)" }
      return ["\(state)  \(check)  \(finding.text)"] + [advice].compactMap(\.self)
    }
    return lines.isEmpty ? "" : lines.text(ReportTextOptions())
  }
}
