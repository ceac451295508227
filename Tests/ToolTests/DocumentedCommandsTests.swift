import Foundation
import Testing

@testable import UndeadTool

/// Every command in the documents is one that the tool accepts.
@Suite struct DocumentedCommandsTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// What shells, tables and other pages have in the place of words.
  private static let placeholders = ["PID": "1", "pid": "1", "$PID": "1", "$pid": "1", "$!": "1", "%n": "1"]

  static let pages: [String] = {
    let fixed = ["README.md", "SECURITY.md", "CONTRIBUTING.md"]
    let others = ["Documentation", "Documentation/internals", "Sources"].flatMap { folder in
      let all = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.allObjects as? [String] ?? []
      return all.filter { $0.hasSuffix(".md") && (folder == "Sources" || !$0.contains("/")) }.map { "\(folder)/\($0)" }
    }
    // The manual is made of what the tool says of itself.
    return fixed + others.filter { !$0.hasSuffix("/manual.md") }.sorted()
  }()

  @Test func theToolAcceptsThem() throws {
    var pages: [[String]: String] = [:]
    for page in Self.pages {
      let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
      for command in Self.commands(in: text) { pages[Self.words(command)] = page }
    }
    #expect(pages.count > 100)
    for (words, page) in pages {
      let problem = Self.problem(words)
      #expect(problem == nil, "\(page): \(words.joined(separator: " "))")
    }
  }

  @Test(arguments: UndeadCommand.commands.verbs.map { $0.help.name })
  func theToolAcceptsTheExamplesOfItsHelp(verb: String) throws {
    let examples = try #require(UndeadCommand.commands.verb(verb)).help.examples
    #expect(!examples.isEmpty)
    for (command, _) in examples { #expect(Self.problem(Self.words(command)) == nil, "\(command)") }
  }

  @Test func aWrongOneIsFound() {
    let text =
      "`undead heap FILE --by moon`; x\n```\nundead run --nothing -- X # why\nundead mark PID after  a comment\n```"
    let problems = Self.commands(in: text).map { Self.problem(Self.words($0)) != nil }
    #expect(problems == [true, true, false])
  }

  /// What the tool says to it. In a sentence a command may be without what it is about.
  private static func problem(_ words: [String]) -> String? {
    guard words.count > 1, !["help", "ended"].contains(words[1]), !words[1].hasPrefix("-") else { return nil }
    do {
      _ = try UndeadCommand.commands.command(for: Array(words.dropFirst()))
      return nil
    } catch let answer as Answer {
      return answer.text.isEmpty ? "no answer" : nil
    } catch {
      let message = (error as? ValidationError)?.message.plain ?? "\(error)"
      return ["Missing expected argument", "Missing value for", "name a program", "name a process"].contains(
        where: message.contains) ? nil : message
    }
  }

  /// Lines of blocks and spans of code that begin with the tool's name and have an option or an operand.
  private static func commands(in text: String) -> [String] {
    var isInBlock = false
    return text.split(separator: "\n").flatMap { line -> [Substring] in
      if line.hasPrefix("```") {
        isInBlock.toggle()
        return []
      }
      let parts =
        isInBlock
        ? line.split(separator: ";")
        : line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map(
          \.element)
      return parts
    }.map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.hasPrefix("undead ") && $0.contains { $0 != " " } }
  }

  /// As a shell splits them, up to a comment or another command.
  private static func words(_ command: String) -> [String] {
    var words: [String] = []
    var word = ""
    var quote: Character?
    var isWord = false
    for character in command + " " {
      if let open = quote {
        if character == open { quote = nil } else { word.append(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        isWord = true
      } else if character == " " {
        guard isWord || !word.isEmpty else { break }
        words.append(placeholders[word] ?? word)
        word = ""
        isWord = false
      } else {
        word.append(character)
      }
    }
    // Two spaces begin a comment in a block.
    let end = words.firstIndex { $0.hasPrefix("#") || ["&", "|", "&&", "||", ">", "2>", "<"].contains($0) }
    return Array(words[..<(end ?? words.endIndex)])
  }
}
