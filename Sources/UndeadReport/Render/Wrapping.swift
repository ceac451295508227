/// Lines that fit a terminal.
package enum Wrapping {
  /// A terminal that is narrower than this shows nothing well.
  private static let leastWidth = 40

  /// Breaks lines between words at a width; what goes on below a line is set in.
  ///
  /// - Parameter width: columns; nil leaves the lines as they are.
  package static func wrapped(_ lines: [TextLine], width: Int?) -> [TextLine] {
    guard let width else { return lines }
    var result: [TextLine] = []
    var continuations = 0
    for line in lines {
      if line.isMark {
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

  private static func wrapped(_ line: TextLine, width: Int) -> [TextLine] {
    guard line.width > width else { return [line] }
    let cells = TextLine.Cells(line)
    let indentation = continuation(of: cells.characters)
    var rows: [TextLine] = []
    var row: TextLine = ""
    var (columns, hasWord) = (0, false)
    for word in words(cells.characters) {
      // A word that starts the row stays there, however long it is: names can be copied whole.
      if columns + word.count > width, hasWord {
        rows.append(row)
        let start = word.first { cells.characters[$0] != " " } ?? word.upperBound
        row = .blanks(indentation) + cells.line(start..<word.upperBound)
        columns = indentation + word.upperBound - start
      } else {
        row += cells.line(word)
        columns += word.count
      }
      hasWord = hasWord || word.contains { cells.characters[$0] != " " }
    }
    return rows + [row]
  }

  /// Where a line goes on: below its text, which in a row with a label starts behind that.
  private static func continuation(of line: [Character]) -> Int {
    let start = line.prefix { $0 == " " }.count
    guard start == 2, let gap = line.dropFirst(2).firstRange(of: "  ") else { return start + 4 }
    let column = line[gap.lowerBound...].firstIndex { $0 != " " } ?? line.count
    return column == 13 ? column : start + 4
  }

  /// The words of a line, each with the blanks before it.
  private static func words(_ line: [Character]) -> [Range<Int>] {
    var words: [Range<Int>] = []
    var start = 0
    for place in line.indices.dropFirst() where line[place] == " " && line[place - 1] != " " {
      words.append(start..<place)
      start = place
    }
    return words + [start..<line.count]
  }
}
