import Glibc

/// What `--generate-manual` writes: pages of the manual in mdoc, and the list of all options in Markdown (scripts/make/manual).
enum ManualPage {
  /// `undead` for the page of the tool, the name of a command for its page, nil for the list; nil if there is no such command.
  static func text(of name: String?, in commands: CommandSet) -> String? {
    guard let name else { return list(commands) }
    if name == "undead" {
      return page(commands.help, nil, commands.verbs.map { ".Xr undead.\($0.help.name) 1" }.sorted())
    }
    return commands.verb(name).map { page($0.help, $0, [".Xr undead 1"]) }
  }

  // MARK: Pages

  private static func page(_ help: CommandHelp, _ command: (any Command.Type)?, _ references: [String]) -> String {
    // `man` needs a name without a blank.
    let name = command == nil ? "undead" : "undead.\(help.name)"
    var lines = [
      ".Dd \(date())", ".Dt \(name.uppercased()) 1", ".Os", ".Sh NAME", ".Nm \(name)",
      ".Nd \"\(help.abstract.hasSuffix(".") ? String(help.abstract.dropLast()) : help.abstract)\"", ".Sh SYNOPSIS",
    ]
    let call = "undead\(command == nil ? "" : " \(help.name)")"
    for line in (command.map(HelpText.usage) ?? "undead command [options]").split(separator: "\n") {
      lines += [".Nm \"\(call)\"", text(line.dropFirst(call.count + 1))]
    }
    lines.append(".Sh DESCRIPTION")
    let paragraphs = help.discussion.split(separator: "\n")
    let (status, others) = (
      paragraphs.filter { $0.hasPrefix("Exit status") }, paragraphs.filter { !$0.hasPrefix("Exit status") }
    )
    lines += others.flatMap { [".Pp", text($0)] }.dropFirst()
    lines.append(".Sh OPTIONS")
    let declarations = command?.declarations ?? []
    lines.append(".Bl -tag -width 6n")
    for declaration in declarations { lines += [".It \(tag(declaration))", text(declaration.help)] }
    for (names, effect) in HelpText.ofAll {
      lines += [".It Fl \(names.replacing("--", with: "-").replacing("-h,", with: "h ,"))", text(effect)]
    }
    lines.append(".El")
    lines.append(".Sh EXIT STATUS")
    lines += status.map { text($0) }
    if !help.examples.isEmpty {
      lines += [".Sh EXAMPLES", ".Bl -tag -width 6n"]
      for (command, purpose) in help.examples { lines += [".It Ic \(escaped(command))", text(purpose)] }
      lines.append(".El")
    }
    return (lines + [".Sh SEE ALSO", references.joined(separator: " ,\n")]).joined(separator: "\n")
  }

  /// An option with its value, as an item of a list.
  private static func tag(_ declaration: Declaration) -> String {
    let value = "Ar \(declaration.valueName)\(declaration.isRepeating ? "..." : "")"
    if declaration.isOperand { return value }
    let names = "Fl " + declaration.names.map { String($0.dropFirst()) }.joined(separator: " , ")
    return declaration.takesValue ? "\(names) \(value)" : names
  }

  /// Each sentence on a line of its own.
  private static func text(_ paragraph: some StringProtocol) -> String {
    var lines = [""]
    for word in escaped(paragraph).split(separator: " ") {
      lines[lines.count - 1] += lines[lines.count - 1].isEmpty ? word : " \(word)"
      let end = word.last { !")\"".contains($0) }
      if let end, ".?!".contains(end) { lines.append("") }
    }
    // A point or a quote at the beginning would make it a request.
    return lines.filter { !$0.isEmpty }.map { ".'".contains($0.first ?? " ") ? "\\&\($0)" : $0 }.joined(separator: "\n")
  }

  private static func escaped(_ text: some StringProtocol) -> String {
    String(text).replacing("\\", with: "\\e").replacing("\"", with: "\\(dq")
  }

  /// Of SOURCE_DATE_EPOCH, so that the same sources make the same pages; else of now.
  private static func date() -> String {
    var seconds = System.environment("SOURCE_DATE_EPOCH").flatMap(time_t.init) ?? time(nil)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    return String(unsafeUninitializedCapacity: 64) { buffer in
      buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress!, 64, "%B %-d, %Y", &parts) }
    }
  }

  // MARK: List

  private static func list(_ commands: CommandSet) -> String {
    let all = commands.verbs.map { verb in
      (verb, HelpText.groups(verb).map { (title: $0.title, options: $0.options.map(spelled)) })
    }
    // A group that several commands have is listed once; the first one names it.
    let titled = all.flatMap(\.1).filter { $0.title != nil }
    let shared = titled.indices.filter { place in
      let same = titled.indices.filter { titled[$0].options == titled[place].options }
      return same.count > 1 && same[0] == place
    }.map { titled[$0] }
    func sharedTitle(_ options: [String]) -> String? { shared.first { $0.options == options }?.title }
    var sections = all.map { verb, groups in
      let help = verb.help
      let calls = HelpText.usage(verb).replacing("\n", with: "`, `")
      var lines = ["## undead \(help.name)", "\(help.abstract) `\(calls)`", ""]
      for (title, options) in groups.suffix(1) + groups.dropLast() where !options.isEmpty && sharedTitle(options) == nil
      {
        lines.append("- \(title.map { "\($0): " } ?? "")\(options.joined(separator: ", "))")
      }
      let links = groups.compactMap { sharedTitle($0.options) }.map { title in
        "[\(title)](#\(title.lowercased().replacing(" ", with: "-")))"
      }
      return (lines + (links.isEmpty ? [] : ["- also: \(links.joined(separator: ", "))"])).joined(separator: "\n")
    }
    sections += shared.map { "## \($0.title ?? "")\n\($0.options.joined(separator: ", "))" }
    return sections.joined(separator: "\n\n")
  }

  /// As it is typed: `-o`/`--output FILE`.
  private static func spelled(_ option: Declaration) -> String {
    let value = option.takesValue ? " \(option.valueText)" : ""
    return option.names.map { $0 == option.names.last ? "`\($0)\(value)`" : "`\($0)`" }.joined(separator: "/")
  }
}
