import Glibc

/// Lines of the tool's own on standard error.
enum Message {
  static func say(_ text: String) {
    _ = System.write(Array("undead: \(text)\n".utf8), to: STDERR_FILENO)
  }
}
