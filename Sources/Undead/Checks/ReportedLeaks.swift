import Synchronization

/// What assertions have reported in this process: a leak fails one test, not all that come after it.
///
/// Leaked blocks are never freed, so their addresses identify them.
enum ReportedLeaks {
  private static let addresses = Mutex<Set<HiddenAddress>>([])

  static func contains(_ address: UInt64) -> Bool {
    addresses.withLock { $0.contains(HiddenAddress(address)) }
  }

  static func insert(_ reported: some Sequence<UInt64>) {
    addresses.withLock { known in
      for address in reported { known.insert(HiddenAddress(address)) }
    }
  }
}
