#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Logging
import UndeadRunLoop
import UndeadSystem

extension RunLoopDiagnostics {
  /// Switches diagnostics on and sends each to a swift-log logger, with its details as metadata.
  ///
  /// - Parameters:
  ///   - logger: receives the diagnostics; errors for calls that were prevented, warnings for the rest.
  ///   - thresholds: what counts as late, starving and blocking.
  public static func enable(logger: Logger, thresholds: Thresholds = Thresholds()) {
    enable(thresholds) { diagnostic in
      // Names of timers may come from anywhere, and not every handler of logs keeps a message on its line.
      logger.log(
        level: diagnostic.kind.logLevel, "\(VisibleText.line(diagnostic.message))", metadata: diagnostic.metadata)
    }
  }
}

extension RunLoopDiagnostic.Kind {
  /// The level at which a diagnostic is logged.
  public var logLevel: Logger.Level {
    switch self {
    case .timerTarget, .callbackThrew, .threadFailed: .error
    default: .warning
    }
  }
}

extension RunLoopDiagnostic {
  /// The kind, the details, and the backtraces as addresses.
  public var metadata: Logger.Metadata {
    var metadata = Logger.Metadata(uniqueKeysWithValues: details.map { ($0.key, .string(VisibleText.line($0.value))) })
    metadata["kind"] = .string(kind.rawValue)
    for trace in backtraces {
      metadata["backtrace.\(trace.role)"] = .array(
        trace.addresses.map { .string("0x" + String($0, radix: 16)) })
    }
    return metadata
  }
}
#endif
