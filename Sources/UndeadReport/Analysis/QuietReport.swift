extension Snapshot {
  /// More than this are findings, most likely, and are not looked at twice.
  private static let mostQuietNodes = 10_000

  /// True if it may be that nothing was found but known leaks.
  package var isProbablyQuiet: Bool {
    nodes.count <= Self.mostQuietNodes && suspects.isEmpty && keptAlone.isEmpty && watched.isEmpty
      && diagnostics.isEmpty && zombies.isEmpty
  }

  /// True if anything in it has the code that made it.
  package var mayShowCode: Bool {
    !nodes.isEmpty || !suspects.isEmpty || !keptAlone.isEmpty || !watched.isEmpty || !diagnostics.isEmpty
      || !zombies.isEmpty
  }
}

extension LeakReport {
  /// True if its text shows no code, and files, lines and inlined calls would not have changed it.
  package var isQuiet: Bool {
    leaks.isEmpty && suspects.isEmpty && keptAlone.isEmpty && zombies.isEmpty && diagnostics.isEmpty && runLoops == nil
      && summary.suppressed == 0 && !knownLeaks.contains { $0.reason == KnownLeaks.reasonByFunction }
  }
}
