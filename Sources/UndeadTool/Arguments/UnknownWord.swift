import UndeadReport

/// The answer to a word that is no command or option: most often a program, or a slip of the keyboard.
enum UnknownWord {
  /// - Parameters:
  ///   - arguments: of the tool.
  ///   - names: of its commands.
  static func error(_ arguments: [String], names: [String]) -> ValidationError {
    let word = arguments.first ?? ""
    let start: TextLine = "'\(word)' is no command of undead"
    if word.contains("/") {
      return ValidationError("\(start); to check a program: undead run -- \(arguments.joined(separator: " "))")
    }
    guard let close = closest(to: word, among: names) else {
      return ValidationError("\(start); 'undead help' lists them, and 'undead run -- \(word)' checks a program")
    }
    return ValidationError("\(start); did you mean 'undead \(close)'?")
  }

  /// The name that most probably was meant, if one is near.
  static func closest(to word: String, among names: [String]) -> String? {
    let letters = word.drop { $0 == "-" }
    let near = names.map { name in
      let others = name.drop { $0 == "-" }
      return (name: name, letters: others.count, distance: distance(letters, others))
    }.min { $0.distance < $1.distance }
    guard let near, near.distance <= 2, near.distance < near.letters - 1 else { return nil }
    return near.name
  }

  /// How many letters have to be put in, left out, replaced or exchanged with the next one.
  private static func distance(_ first: Substring, _ second: Substring) -> Int {
    let (a, b) = (Array(first.utf8), Array(second.utf8))
    guard a.count < 32 else { return Int.max }
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var least = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, rows[i - 1][j - 1] + 1) }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
