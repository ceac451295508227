import Glibc

/// What the terminal that a report is written to can do.
enum Terminal {
  /// Columns; nil if they are not known.
  ///
  /// - Parameter descriptor: open on a terminal.
  static func width(_ descriptor: Int32, environment: (String) -> String? = System.environment) -> Int? {
    if let text = environment("COLUMNS"), let columns = Int(text), columns > 0 { return columns }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}
