/// A tool that has commands, and what its command line asks for.
struct CommandSet: Sendable {
  let help: CommandHelp
  let version: String
  let verbs: [any Command.Type]

  func verb(_ name: String?) -> (any Command.Type)? { verbs.first { $0.help.name == name } }

  /// - Throws: ``ValidationError``, or ``Answer``.
  func command(for words: [String]) throws -> any Command {
    let word = words.first ?? "help"
    if let verb = verb(word) {
      do {
        return try verb.parse(Array(words.dropFirst()))
      } catch let request as ArgumentReader.Request {
        throw Answer(text: answer(request, verb))
      }
    }
    // Options of the tool are alone.
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let value = parts.count > 1 ? parts[1] : words.dropFirst().first
    switch parts.first {
    case "help":
      guard let name = words.dropFirst().first(where: { !$0.hasPrefix("-") }) else { break }
      guard let verb = verb(name) else { throw unknown([name]) }
      throw Answer(text: HelpText.brief(verb))
    case "-h", "-help", "--help", "--help-all": break
    case "--version": throw Answer(text: version)
    case "--generate-completion-script":
      throw Answer(text: try CompletionScript.text(for: value ?? CompletionScript.ownShell))
    case "--generate-manual":
      guard let page = ManualPage.text(of: value, in: self) else { throw unknown([value ?? ""]) }
      throw Answer(text: page)
    case "---complete":
      let answer = CompletionAnswer(to: Array(words.dropFirst(2)), at: value.flatMap(Int.init) ?? -1, in: self)
      throw Answer(text: answer.lines.joined(separator: "\n"))
    default: throw word.hasPrefix("-") ? ValidationError("Unknown option '\(word)'") : unknown(words)
    }
    throw Answer(text: HelpText.ofTool(self))
  }

  private func answer(_ request: ArgumentReader.Request, _ verb: any Command.Type) -> String {
    switch request {
    case .help: HelpText.brief(verb)
    case .allHelp: HelpText.full(verb)
    case .version: version
    }
  }

  private func unknown(_ words: [String]) -> ValidationError {
    UnknownWord.error(words, names: verbs.map { $0.help.name } + ["help"])
  }
}
