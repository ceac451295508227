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

  /// Writes text of the tool's own to standard output; no empty line for an empty one, which a shell would take for an offer.
  static func answer(lines: String) {
    guard !lines.isEmpty else { return }
    _ = System.write(Array("\(lines)\n".utf8), to: STDOUT_FILENO)
  }
}
