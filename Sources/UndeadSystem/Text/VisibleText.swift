/// Text of others, made visible: the one place that knows which scalars may not reach a terminal, a log, a page or a review.
///
/// Names of types, fields, functions, files and processes come from what is inspected, and so do notes and messages. A hidden
/// scalar in them can move the cursor, set the title, turn the direction of a line, or end the line so that the next one looks
/// like one of the tool's. Each is shown as an escape of the Swift language instead: `\u{1B}`.
///
/// Who calls it: `TextLine` (all text for people), `Markup` (Markdown, XML, workflow commands), the pages, Graphviz and
/// profiles. JSON keeps its strings and only writes these scalars in its own escapes.
package enum VisibleText {
  /// True for a scalar that shows nothing by itself, or changes how other text is shown.
  ///
  /// By the categories of Unicode (UAX #44): controls (Cc: C0, DEL, C1), format characters (Cf: directions as in UAX #9 and
  /// UTR #36, joiners, tags), line and paragraph separators (Zl, Zp), private use and unassigned (Co, Cn: a terminal
  /// may make anything of them), and what has the property Default_Ignorable_Code_Point (fillers, variation selectors).
  package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value < 0x20 }
    // Letters of Latin, Greek and Cyrillic are most of what is not ASCII.
    if (0xA1...0x377).contains(scalar.value), scalar.value != 0xAD, scalar.value != 0x34F { return false }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return true
    default: return scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// The escape of a scalar: `\u{1B}`.
  package static func escape(_ scalar: Unicode.Scalar) -> String {
    #"\u{"# + String(scalar.value, radix: 16, uppercase: true) + "}"
  }

  /// The text with an escape for each hidden scalar. It is one line, whatever it was.
  ///
  /// What joins or varies emoji stays: a family is one picture, and nothing else is hidden by it.
  package static func line(_ text: some StringProtocol) -> String { shown(text, lineBreaks: false) }

  /// The same for text of the tool's own that has several lines: line feeds stay.
  package static func lines(_ text: some StringProtocol) -> String { shown(text, lineBreaks: true) }

  private static func shown(_ text: some StringProtocol, lineBreaks: Bool) -> String {
    // Nearly all names are plain ASCII.
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "#") }) { return String(text) }
    return shown(String(text), lineBreaks: lineBreaks)
  }

  /// Of a type that the compiler knows: a page of a megabyte takes a tenth of the time.
  private static func shown(_ text: String, lineBreaks: Bool) -> String {
    let scalars = text.unicodeScalars
    var result = String.UnicodeScalarView()
    var previous: Unicode.Scalar?
    var (copied, place) = (scalars.startIndex, scalars.startIndex)
    while place < scalars.endIndex {
      let scalar = scalars[place]
      let next = scalars.index(after: place)
      let isShown =
        if isHidden(scalar) {
          lineBreaks && scalar == "\n"
            || isOfEmoji(scalar, after: previous, before: next < scalars.endIndex ? scalars[next] : nil)
        } else if scalar == "#" {
          previous != "#" || !beginsCommand(scalars[next...])
        } else {
          previous != nil || !isMark(scalar)
        }
      if !isShown {
        result.append(contentsOf: scalars[copied..<place])
        result.append(contentsOf: escape(scalar).unicodeScalars)
        copied = next
      }
      (previous, place) = (scalar, next)
    }
    if copied == scalars.startIndex { return text }
    result.append(contentsOf: scalars[copied...])
    return String(result)
  }

  /// True for what is drawn over the character before it: at the start of a name, that is the tool's.
  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }

  /// True behind `##` of `##[error]`, `##vso[...]` and `##teamcity[...]`, which runners of GitHub, Azure and TeamCity obey
  /// wherever they are in a line of a log.
  private static func beginsCommand(_ rest: some Collection<Unicode.Scalar>) -> Bool {
    rest.first { !("a"..."z").contains($0) && !("A"..."Z").contains($0) } == "["
  }

  /// True for a line that runners of GitHub take for a command (`::error::...`): they pass over blanks before it.
  package static func isCommand(_ line: some StringProtocol) -> Bool {
    line.unicodeScalars.drop { $0.properties.isWhitespace }.starts(with: "::".unicodeScalars)
  }

  /// True for the selector of the coloured form behind an emoji, and the joiner between two.
  private static func isOfEmoji(
    _ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, before next: Unicode.Scalar?
  ) -> Bool {
    guard let previous else { return false }
    switch scalar {
    case "\u{FE0F}": return isEmoji(previous)
    case "\u{200D}":
      guard let next, isEmoji(next) else { return false }
      return isEmoji(previous) || previous == "\u{FE0F}"
    default: return false
    }
  }

  /// Digits are emoji to Unicode, too, and signs such as U+00A9.
  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x2190 && scalar.properties.isEmoji
  }
}
