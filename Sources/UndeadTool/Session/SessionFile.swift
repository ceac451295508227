import UndeadSystem

/// A file that a process of a session wrote: open, whatever becomes of its name.
final class SessionFile {
  private let descriptor: Int32
  private let takeNameAway: () -> Void

  init(_ descriptor: Int32, remove: @escaping () -> Void) {
    self.descriptor = descriptor
    takeNameAway = remove
  }

  deinit { close(descriptor) }

  /// A name under which this process can read it, as long as this lives: its user keeps this in a property, or takes
  /// ``withPath(_:)``.
  var path: String { "/proc/self/fd/\(descriptor)" }

  /// Hands over the name, and lives until it was used.
  func withPath<Output, Failure: Error>(_ body: (String) throws(Failure) -> Output) throws(Failure) -> Output {
    defer { withExtendedLifetime(self) {} }
    return try body(path)
  }

  /// Takes its name away: it goes when this does.
  func remove() { takeNameAway() }
}
