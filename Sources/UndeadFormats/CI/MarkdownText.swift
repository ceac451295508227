import UndeadReport

/// Text inside of Markdown, as GitHub and GitLab read it.
///
/// Sites look for mentions, addresses and references in the finished page, where an entity such as `&#64;` has become the
/// character again. What begins one is therefore put in a code span, in which they look for nothing.
enum MarkdownText: MarkupLanguage {
  static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    var previous: Unicode.Scalar = " "
    for (scalar, next) in zip(text.unicodeScalars, Array(text.unicodeScalars.dropFirst()) + [" "]) {
      switch scalar {
      case "&": result += "&amp;".unicodeScalars
      case "<": result += "&lt;".unicodeScalars
      case ">": result += "&gt;".unicodeScalars
      case "@",
        "." where (previous == "w" || previous == "W") && isOfWord(next),
        ":" where next == "/", "/" where previous == "/", "#" where isOfWord(previous) && isOfWord(next):
        result += "`\(scalar)`".unicodeScalars
      case "\\", "`", "*", "_", "[", "]", "|", "~", "#", "$", "!":
        result.append("\\")
        result.append(scalar)
      case _ where scalar.properties.isWhitespace: result.append(" ")
      default: result.append(scalar)
      }
      previous = scalar
    }
    return String(result)
  }

  private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_" || scalar == "-"
  }

  private static let cellLimit = 300

  /// The text of a cell of a table.
  static func cell(_ text: String) -> Markup<MarkdownText> { Markup(cut(text)) }

  /// A text that is short enough for a line.
  static func cut(_ text: String) -> String {
    text.count > cellLimit ? String(text.prefix(cellLimit - 3)) + "..." : text
  }

  /// Lines as they are.
  static func block(_ lines: [TextLine]) -> Markup<MarkdownText> {
    let text = lines.map(\.plain).joined(separator: "\n")
    var (run, longest) = (0, 2)
    for scalar in text.unicodeScalars {
      run = scalar == "`" ? run + 1 : 0
      longest = max(longest, run)
    }
    let fence = String(repeating: "`", count: longest + 1)
    return Markup(verbatim: "\(fence)text\n\(text)\n\(fence)")
  }
}
