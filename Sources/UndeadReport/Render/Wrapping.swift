/// Lines that fit a terminal.
enum Wrapping {
  /// A terminal that is narrower than this shows nothing well.
  private static let leastWidth = 40

  /// Breaks lines between words at a width; what goes on below a line is set in.
  ///
  /// - Parameter width: columns; nil leaves the lines as they are.
  static func wrapped(_ lines: [String], width: Int?) -> [String] {
    guard let width else { return lines }
    var result: [String] = []
    var continuations = 0
    for line in lines {
      if isMark(line) {
        // It belongs directly below what it marks, at the start of the line before.
        result.insert(line, at: result.count - continuations)
        continue
      }
      let rows = wrapped(line, width: max(width, leastWidth))
      result += rows
      continuations = rows.count - 1
    }
    return result
  }

  private static func wrapped(_ line: String, width: Int) -> [String] {
    guard self.width(of: line) > width else { return [line] }
    let indentation = String(repeating: " ", count: continuation(of: line))
    var rows: [String] = []
    var row = ""
    var columns = 0
    for word in words(line) {
      let size = self.width(of: word)
      // A word that starts the row stays there, however long it is: names can be copied whole.
      if columns + size > width, row.contains(where: { $0 != " " }) {
        rows.append(row)
        let text = word.drop { $0 == " " }
        row = indentation + text
        columns = indentation.count + self.width(of: text)
      } else {
        row += word
        columns += size
      }
    }
    return rows + [row]
  }

  /// Where a line goes on: below its text, which in a row with a label starts behind that.
  private static func continuation(of line: String) -> Int {
    let start = line.prefix { $0 == " " }.count
    guard start == 2, let gap = line.dropFirst(2).firstRange(of: "  ") else { return start + 4 }
    let text = line[gap.lowerBound...].prefix { $0 == " " }
    let column = width(of: line[..<text.endIndex])
    return column == 13 ? column : start + 4
  }

  /// The words of a line, each with the blanks before it.
  private static func words(_ line: String) -> [Substring] {
    var words: [Substring] = []
    var start = line.startIndex
    var isBlank = true
    var isEscape = false
    var index = line.startIndex
    while index < line.endIndex {
      if line[index] == "\u{1B}" { isEscape = true }
      if !isEscape {
        if line[index] == " ", !isBlank {
          words.append(line[start..<index])
          start = index
        }
        isBlank = line[index] == " "
      } else if endsEscape(line, index) {
        isEscape = false
      }
      index = line.index(after: index)
    }
    return words + [line[start...]]
  }

  /// Columns that a text takes: escape sequences take none.
  static func width(of text: some StringProtocol) -> Int {
    var columns = 0
    var isEscape = false
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == "\u{1B}", !isEscape {
        isEscape = true
      } else if !isEscape {
        columns += 1
      } else if endsEscape(text, index) {
        isEscape = false
      }
      index = text.index(after: index)
    }
    return columns
  }

  /// True at the last character of a style, `ESC [ ... m`, or of the address of a link, `ESC ] ... ESC \`.
  private static func endsEscape(_ text: some StringProtocol, _ index: String.Index) -> Bool {
    switch text[index] {
    case "\\": index > text.startIndex && text[text.index(before: index)] == "\u{1B}"
    case "m": isStyle(text, index)
    default: false
    }
  }

  private static func isStyle(_ text: some StringProtocol, _ end: String.Index) -> Bool {
    let rest = text[..<end].reversed().drop { $0.isNumber || $0 == ";" }
    return rest.starts(with: ["[", "\u{1B}"])
  }

  private static func isMark(_ line: String) -> Bool {
    let text = line.drop { $0 == " " }
    return text.first == "^" || text.dropFirst().hasPrefix("[31m^")
  }
}
