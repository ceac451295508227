extension LeakReport: CustomStringConvertible {
  /// How many findings there are, then the worst, a line each. ``TextRenderer`` shows all that is known.
  public var description: String {
    let findings =
      leaks.map(\.description) + zombies.map { "zombie: \($0)" } + suspects.map { "suspect: \($0)" }
    let most = 10
    let rest = findings.count > most ? ["... and \(findings.count - most) more"] : []
    return ([TextRenderer.summary(self)] + (findings.prefix(most) + rest).map { "  " + $0 }).joined(separator: "\n")
  }
}

extension LeakReport.Leak: CustomStringConvertible {
  /// What leaked, how much, and where it was allocated, in one line.
  public var description: String { Finding(self).line }
}

extension LeakReport.Suspect: CustomStringConvertible {
  /// What is held by what fires or waits, how much, and where it was allocated, in one line.
  public var description: String { Finding(self).line }
}

extension LeakReport.Zombie: CustomStringConvertible {
  /// Which dead object was used, and where, in one line.
  public var description: String { Finding(self).line }
}

extension LeakReport.Frame: CustomStringConvertible {
  /// The function, with file and line if they are known.
  public var description: String {
    TextLine(symbol + (file.map { " at \($0)" + (line.map { ":\($0)" } ?? "") } ?? "")).plain
  }
}

extension Finding {
  /// "retain cycle of App.Owner (3 objects, 96 bytes), allocated in App.run() at Main.swift:7".
  fileprivate var line: String {
    let site = site(.used) ?? site(.freed) ?? site(.allocated)
    let place = site.flatMap { site in site.frame.map { "\(site.role.label) in \($0)" } }
    return TextLine(
      ([heading + (size.map { " (\($0))" } ?? "")] + [place].compactMap(\.self)).joined(separator: ", ")
    ).plain
  }
}
