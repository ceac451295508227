import UndeadReport

/// Words of pages.
enum Words {
  static func kind(_ finding: Finding) -> String {
    switch (finding.kind, finding.cause) {
    case (.leak, Leak.Kind.retainCycle.rawValue): "retain cycle"
    case (.leak, let cause): cause
    default: finding.kind.rawValue
    }
  }
}
