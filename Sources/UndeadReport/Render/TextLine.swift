import UndeadSystem

/// A line of text for people, in pieces: what a piece says, and how a terminal shows it.
///
/// Raw text cannot pass it. A literal is the tool's own. What is put into it, a name or a sentence, goes through
/// `VisibleText`, so that it holds no control characters and no line breaks. Colours are properties of a piece; only
/// `terminal` turns them into escape sequences, and only if the options ask for colour.
package struct TextLine: Sendable, Equatable {
  /// Text of one style.
  struct Piece: Sendable, Equatable {
    fileprivate(set) var text: String
    var style: TextStyle?
  }

  private(set) var pieces: [Piece]
  /// True if the line marks what is directly above it.
  package private(set) var isMark = false

  /// A line of one text, which is made visible.
  package init(_ text: some StringProtocol) {
    self.init(visible: VisibleText.line(text))
  }

  private init(visible text: String) {
    pieces = text.isEmpty ? [] : [Piece(text: text)]
  }

  private init(_ pieces: [Piece]) {
    self.pieces = []
    append(pieces)
  }

  /// Pieces of one style are one.
  private mutating func append(_ more: [Piece]) {
    for piece in more {
      if let last = pieces.last, last.style == piece.style {
        pieces[pieces.count - 1].text += piece.text
      } else {
        pieces.append(piece)
      }
    }
  }

  package var isEmpty: Bool { pieces.isEmpty }

  /// The text alone.
  package var plain: String {
    let text = pieces.count == 1 ? pieces[0].text : pieces.reduce(into: "") { $0 += $1.text }
    guard VisibleText.isCommand(text) else { return text }
    // The name of a type may begin a line.
    var isFirst = true
    return ScalarEscapes.applied(to: text) { scalar in
      guard scalar == ":", isFirst else { return nil }
      isFirst = false
      return VisibleText.escape(scalar)
    }
  }

  /// The text as a terminal takes it: with escape sequences if the options ask for colour.
  package func terminal(_ options: ReportTextOptions) -> String {
    let plain = plain
    // A line that was changed to be no command has no colours.
    guard options.color, plain == pieces.reduce(into: "", { $0 += $1.text }) else { return plain }
    return pieces.reduce(into: "") { result, piece in
      result += piece.style.map { "\u{1B}[\($0.rawValue)m\(piece.text)\u{1B}[0m" } ?? piece.text
    }
  }

  /// The same text in one style.
  func styled(_ style: TextStyle) -> TextLine {
    TextLine(pieces.map { Piece(text: $0.text, style: style) })
  }

  /// The same line as one that marks what is above it.
  func marking() -> TextLine {
    var line = self
    line.isMark = true
    return line
  }

  package static func + (left: TextLine, right: TextLine) -> TextLine { TextLine(left.pieces + right.pieces) }

  package static func += (left: inout TextLine, right: TextLine) { left.append(right.pieces) }

  /// Blanks.
  package static func blanks(_ count: Int) -> TextLine {
    TextLine(visible: String(repeating: " ", count: max(0, count)))
  }

  /// Columns that it takes.
  var width: Int { pieces.reduce(0) { $0 + $1.text.count } }

  /// With blanks after it, to a number of columns.
  package func padded(_ width: Int) -> TextLine { self + .blanks(width - self.width) }
}

extension TextLine: ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) {
    self.init(visible: text)
  }

  package init(stringInterpolation text: StringInterpolation) {
    self.init(text.pieces)
  }

  /// Literals as they are, values made visible, lines with their styles.
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var pieces: [Piece] = []

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ text: String) { append(text) }

    package mutating func appendInterpolation(_ line: TextLine) { pieces += line.pieces }

    package mutating func appendInterpolation<Value>(_ value: Value) { append(VisibleText.line("\(value)")) }

    private mutating func append(_ text: String) {
      guard !text.isEmpty else { return }
      if let last = pieces.last, last.style == nil {
        pieces[pieces.count - 1].text += text
      } else {
        pieces.append(Piece(text: text))
      }
    }
  }
}

extension TextLine {
  /// A line, character by character, each with the number of its piece.
  struct Cells {
    private let line: TextLine
    let characters: [Character]
    private let owners: [Int]

    init(_ line: TextLine) {
      self.line = line
      var (characters, owners): ([Character], [Int]) = ([], [])
      for (number, piece) in line.pieces.enumerated() {
        for character in piece.text {
          characters.append(character)
          owners.append(number)
        }
      }
      (self.characters, self.owners) = (characters, owners)
    }

    /// A part of the line.
    func line(_ range: Range<Int>) -> TextLine {
      var pieces: [Piece] = []
      var last: Int?
      for place in range {
        if last != owners[place] {
          last = owners[place]
          var piece = line.pieces[owners[place]]
          piece.text = ""
          pieces.append(piece)
        }
        pieces[pieces.count - 1].text.append(characters[place])
      }
      return TextLine(pieces)
    }
  }
}

extension Sequence<TextLine> {
  /// One line of many, with a text between each two.
  package func joined(separator: TextLine) -> TextLine {
    var result = TextLine("")
    var isFirst = true
    for line in self {
      if !isFirst { result += separator }
      result += line
      isFirst = false
    }
    return result
  }

  /// A text of these lines, with line breaks between them, or after each.
  package func text(_ options: ReportTextOptions, ending: Bool = true) -> String {
    let text = map { $0.terminal(options) }.joined(separator: "\n")
    return ending ? text + "\n" : text
  }
}

extension DefaultStringInterpolation {
  /// A line is no string: it would show its pieces.
  @available(*, unavailable, message: "use a TextLine, or its 'plain'")
  package mutating func appendInterpolation(_ line: TextLine) {}
}
