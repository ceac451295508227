/// Brings notes of one kind together, such as those about many processes.
package enum NoteFolding {
  /// So many of one kind are listed one by one.
  private static let limit = 2
  private static let namedLimit = 3

  /// The notes, those of one kind as one where the first of them stands.
  package static func folded(_ notes: [String]) -> [String] {
    var kinds: [String: [Note]] = [:]
    let read = notes.map { Note($0) }
    for note in read { kinds[note.kind, default: []].append(note) }
    var told = Set<String>()
    return read.compactMap { note in
      guard let same = kinds[note.kind], same.count > limit else { return note.text }
      return told.insert(note.kind).inserted ? text(same) : nil
    }
  }

  private static func text(_ notes: [Note]) -> String {
    let subjects = notes.compactMap(\.process)
    guard subjects.count == notes.count else { return "\(notes[0].text) (and \(notes.count - 1) more of this kind)" }
    let more = subjects.count - namedLimit
    let names = subjects.prefix(namedLimit).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    return "\(notes.count) processes\(plural(notes[0].rest)) (\(names))"
  }

  /// A note on a process, as one on several.
  private static func plural(_ rest: String) -> String {
    let verbs = [
      (" was not checked: it was ", " were not checked: they were "),
      (" was not checked: it ", " were not checked: they "),
      (" still runs and was ", " still run and were "), (" was ", " were "),
    ]
    for (one, many) in verbs where rest.hasPrefix(one) {
      return (many + rest.dropFirst(one.count)).replacing(" its ", with: " their ")
    }
    return rest
  }

  private struct Note {
    var text: String
    /// Number and name of the process that it is about; nil if it is about none.
    var process: String?
    /// The note on the process.
    var rest: String
    /// The same for all notes of one kind.
    var kind: String

    init(_ text: String) {
      self.text = text
      (process, rest) = Note.process(text) ?? (nil, text)
      kind = (process == nil ? "" : "process") + Note.withoutNumbers(rest)
    }

    /// "process 7 (tool --x) was not checked" -> "7 (tool --x)" and " was not checked".
    private static func process(_ text: String) -> (String, rest: String)? {
      let start = "process "
      guard text.hasPrefix(start) else { return nil }
      var rest = text.dropFirst(start.count)
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      guard !digits.isEmpty else { return nil }
      rest = rest.dropFirst(digits.count)
      guard rest.hasPrefix(" (") else { return (String(digits), String(rest)) }
      var depth = 0
      // Command lines have brackets of their own.
      let name = rest.dropFirst().prefix { character in
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        return depth > 0
      }
      guard depth == 0 else { return (String(digits), String(rest)) }
      return ("\(digits) \(name))", String(rest.dropFirst(name.count + 2)))
    }

    private static func withoutNumbers(_ text: String) -> String {
      var result = ""
      for character in text {
        if character.isASCII, character.isNumber {
          if result.last != "#" { result.append("#") }
        } else {
          result.append(character)
        }
      }
      return result
    }
  }
}
