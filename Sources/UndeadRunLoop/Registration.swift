/// The instrument, as far as this module knows it. Without one, everything here does nothing.
protocol RunLoopInstrument: Sendable {
  /// A diagnostic for the report.
  func record(_ diagnostic: RunLoopDiagnostic)
  /// A call to a freed target that was prevented.
  func recordTimerTarget(type: String, address: UInt, selector: String, message: String, access: [UInt])
}

/// The only place that knows whether the program is under the instrument.
enum Registration {
  private static let instrument = Locked<(any RunLoopInstrument)?>(nil)

  static func install(_ instrument: any RunLoopInstrument) { Self.instrument.withLock { $0 = instrument } }

  static func publish(_ diagnostic: RunLoopDiagnostic) { instrument.withLock { $0 }?.record(diagnostic) }

  static func zombie(timer: TrackedTimer, target: TimerTarget, message: String, access: [UInt]) {
    instrument.withLock { $0 }?.recordTimerTarget(
      type: target.typeName, address: target.address, selector: target.selector, message: message, access: access)
  }
}
