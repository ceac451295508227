import UndeadReport
import UndeadSystem

/// Lines of the tool's own, beside the report.
///
/// Messages quote names of files, processes, functions and options, which need not be trusted. They are `TextLine`s: a literal
/// is as it is written here, what is put into it is made visible.
enum Message {
  static func say(_ line: TextLine) {
    _ = System.write(Array("undead: \(line.plain)\n".utf8), to: STDERR_FILENO)
  }

  /// Writes a line that was asked for to standard output.
  static func answer(_ line: TextLine) {
    _ = System.write(Array("\(line.plain)\n".utf8), to: STDOUT_FILENO)
  }

  /// Writes text of the tool's own to standard output.
  static func answer(lines: String) {
    _ = System.write(Array("\(lines)\n".utf8), to: STDOUT_FILENO)
  }

  /// What a parser of arguments says of what is wrong with them.
  ///
  /// - Parameter arguments: all that it may quote; a line break in one of them ends no line.
  static func problem(_ text: String, quoting arguments: [String]) -> String {
    var text = text
    for argument in arguments {
      let value = argument.split(separator: "=", maxSplits: 1).last.map(String.init) ?? argument
      for raw in [argument, value] where raw.contains(where: \.isNewline) {
        text = text.replacing(raw, with: VisibleText.line(raw))
      }
    }
    return VisibleText.lines(text)
  }
}
