import UndeadSystem

/// What the assertions of a session have reported: a leak fails one test, not all that come after it.
///
/// Leaked blocks are never freed, so their addresses identify them. A suspect may leak later, which is another finding.
final class ReportedLeaks: Sendable {
  private struct State {
    var leaks: Set<HiddenAddress> = []
    var suspects: Set<HiddenAddress> = []
  }

  private let state = Mutex(State())

  func contains(_ address: UInt64) -> Bool {
    state.withLock { $0.leaks.contains(HiddenAddress(address)) }
  }

  func insert(_ reported: some Sequence<UInt64>) {
    state.withLock { state in
      for address in reported { state.leaks.insert(HiddenAddress(address)) }
    }
  }

  func containsSuspect(_ address: UInt64) -> Bool {
    state.withLock { $0.suspects.contains(HiddenAddress(address)) }
  }

  func insertSuspects(_ reported: some Sequence<UInt64>) {
    state.withLock { state in
      for address in reported { state.suspects.insert(HiddenAddress(address)) }
    }
  }
}
