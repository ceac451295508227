import Glibc

/// `undead mark`: begins a new generation in a program that `undead run` started.
struct MarkCommand: Command {
  static let help = CommandHelp(
    name: "mark",
    abstract: "Begin a new generation in a running program: heap files show what was allocated since.",
    examples: [
      ("undead mark 4711 \"before request\"", "then send the request, and mark again"),
      ("undead heap 4711 --by generation", "what is left of it"),
    ],
    common: ["--timeout"],
    discussion: """
      Mark before and after a request, then run 'undead heap FILE --by generation'. A program marks itself with \
      LeakDetector.markGeneration("after request"), or undead_mark_generation in C. A mark costs some microseconds. \
      A process may have 4095.

      Exit status: 0. 64: the command line is wrong, or the process was not started by 'undead run'. 70: it could not be \
      marked.
      """)

  @OptionGroup var program: AskedProgram

  @Argument("[<name>]", help: "What the generation is called in reports; at most 111 bytes are kept.")
  var name = ""

  func run() throws {
    let number = try SnapshotRequest(of: program.pid, kind: .mark, argument: name).mark(timeout: program.timeout)
    Message.answer(name.isEmpty ? "generation \(number)" : "generation \(number): \(name)")
  }
}
