/// Answers the question of a shell for what may stand at the cursor.
///
/// The scripts (`CompletionScript`) ask the tool itself, so they know of no option. An answer has a line for each word, with what it is
/// about after a tab; `file` and `directory` after an empty word ask the shell for those.
struct CompletionAnswer {
  private(set) var lines: [String] = []
  /// What is typed already.
  private var word = ""
  /// What every answer begins with.
  private var start = ""

  /// - Parameters:
  ///   - words: of the command line, with the tool's name.
  ///   - index: of the word at the cursor.
  init(to words: [String], at index: Int, in commands: CommandSet) {
    guard words.indices.contains(index) else { return }
    var before = Self.joined(words[1..<max(1, index + 1)])
    word = before.popLast() ?? ""
    if let declarations = commands.verb(before.first)?.declarations {
      // A shell that takes `=` for a word of its own replaces only what comes after it.
      answer(declarations, before.dropFirst(), isWhole: words[index].hasPrefix("--"))
    } else if before.first == "--generate-completion-script" {
      offer(CompletionScript.shells.map { ($0, "") })
    } else if before.isEmpty, word.hasPrefix("-") {
      offer(Self.ofAll)
    } else if before.isEmpty || before.first == "help" {
      offer(commands.verbs.map { ($0.help.name, $0.help.abstract) })
      if before.isEmpty { offer([("help", "Show the help of a command.")]) }
    }
  }

  /// In the line `--format=json` bash sees three words.
  private static func joined(_ words: ArraySlice<String>) -> [String] {
    var result: [String] = []
    var joins = false
    for word in words {
      if let last = result.last, joins || word == "=" && last.hasPrefix("--") {
        result[result.count - 1] += word
        joins = word == "=" && !joins
      } else {
        result.append(word)
      }
    }
    return result
  }

  private mutating func answer(_ declarations: [Declaration], _ before: ArraySlice<String>, isWhole: Bool) {
    var pending: Declaration?
    var given: [String] = []
    var operands = 0
    var isTerminated = false
    for typed in before {
      if pending != nil {
        pending = nil
      } else if isTerminated || !typed.hasPrefix("-") {
        operands += 1
        if declarations.contains(where: { $0.words == .rest }) { isTerminated = true }
      } else if typed == "--" {
        isTerminated = true
      } else if let option = declarations.first(where: { $0.names.contains(typed) }) {
        given += option.isRepeating ? [] : option.names
        if option.takesValue { pending = option }
      }
    }
    if let pending { return offer(pending) }
    if !isTerminated, word.hasPrefix("-") {
      if word.hasPrefix("--"), let sign = word.firstIndex(of: "=") {
        let option = declarations.first { $0.names.contains(String(word[..<sign])) && $0.takesValue }
        if isWhole { start = String(word[...sign]) }
        word = String(word[word.index(after: sign)...])
        return option.map { offer($0) } ?? ()
      }
      let options = declarations.filter { !$0.isOperand }
      let names = options.flatMap { option in option.names.map { ($0, option.brief ?? option.help) } }
      return offer(names.filter { !given.contains($0.0) } + Self.ofAll)
    }
    if isTerminated, let command = declarations.first(where: { $0.words == .afterTerminator }) { return offer(command) }
    let places = declarations.filter { $0.isOperand && $0.words != .afterTerminator }
    if let last = places.last { offer(operands < places.count ? places[operands] : last) }
  }

  private static var ofAll: [(String, String)] {
    HelpText.ofAll.map { (String($0.0.split(separator: " ").last ?? ""), $0.1) }
  }

  private mutating func offer(_ declaration: Declaration) {
    offer(declaration.values().map { ($0, "") })
    switch declaration.completion {
    case .none: break
    case .file: lines.append("\tfile")
    case .directory: lines.append("\tdirectory")
    case .words(let words): offer(words().map { ($0, "") })
    case .filesAnd(let words):
      offer(words().map { ($0, "") })
      lines.append("\tfile")
    }
  }

  private mutating func offer(_ words: [(String, String)]) {
    lines += words.filter { $0.0.hasPrefix(word) }.map { $0.1.isEmpty ? start + $0.0 : "\(start)\($0.0)\t\($0.1)" }
  }
}
