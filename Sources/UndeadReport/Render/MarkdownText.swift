/// Text inside of Markdown, as GitHub and GitLab read it.
enum MarkdownText {
  /// A text in a line, which looks as it is.
  static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;".unicodeScalars
      case "<": result += "&lt;".unicodeScalars
      case ">": result += "&gt;".unicodeScalars
      case "\\", "`", "*", "_", "[", "]", "|", "~", "#", "$":
        result.append("\\")
        result.append(scalar)
      // It would call a person.
      case "@": result += "&#64;".unicodeScalars
      case _ where scalar.properties.isWhitespace || scalar.value < 0x20: result.append(" ")
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  private static let cellLimit = 300

  /// The text of a cell of a table.
  static func cell(_ text: String) -> String {
    escaped(text.count > cellLimit ? String(text.prefix(cellLimit - 3)) + "..." : text)
  }

  /// Lines as they are.
  static func block(_ lines: [String]) -> String {
    var (run, longest) = (0, 2)
    for character in lines.joined(separator: "\n") {
      run = character == "`" ? run + 1 : 0
      longest = max(longest, run)
    }
    let fence = String(repeating: "`", count: longest + 1)
    return ([fence + "text"] + lines + [fence]).joined(separator: "\n")
  }
}
