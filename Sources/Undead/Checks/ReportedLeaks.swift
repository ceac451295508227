import UndeadSystem

/// What assertions have reported in this process: a leak fails one test, not all that come after it.
///
/// Leaked blocks are never freed, so their addresses identify them. A suspect may leak later, which is another finding.
enum ReportedLeaks {
  private struct State {
    var leaks: Set<HiddenAddress> = []
    var suspects: Set<HiddenAddress> = []
  }

  private static let state = Mutex(State())

  static func contains(_ address: UInt64) -> Bool {
    state.withLock { $0.leaks.contains(HiddenAddress(address)) }
  }

  static func insert(_ reported: some Sequence<UInt64>) {
    state.withLock { state in
      for address in reported { state.leaks.insert(HiddenAddress(address)) }
    }
  }

  static func containsSuspect(_ address: UInt64) -> Bool {
    state.withLock { $0.suspects.contains(HiddenAddress(address)) }
  }

  static func insertSuspects(_ reported: some Sequence<UInt64>) {
    state.withLock { state in
      for address in reported { state.suspects.insert(HiddenAddress(address)) }
    }
  }
}
