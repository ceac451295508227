import ArgumentParser

/// The answer to a first word that is no command: most often a program, or a slip of the keyboard.
enum UnknownCommand {
  /// - Parameters:
  ///   - arguments: of the tool.
  ///   - names: of its commands.
  static func error(_ arguments: [String], names: [String]) -> ValidationError? {
    guard let word = arguments.first, !word.hasPrefix("-"), !names.contains(word) else { return nil }
    let start = "'\(word)' is no command of undead"
    if word.contains("/") {
      return ValidationError("\(start); to check a program: undead run -- \(arguments.joined(separator: " "))")
    }
    let close = names.map { (name: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
    guard let close, close.distance <= 2, close.distance < close.name.count - 1 else {
      return ValidationError("\(start); 'undead help' lists them, and 'undead run -- \(word)' checks a program")
    }
    return ValidationError("\(start); did you mean 'undead \(close.name)'?")
  }

  /// How many letters have to be put in, left out, replaced or exchanged with the next one.
  private static func distance(_ first: String, _ second: String) -> Int {
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
