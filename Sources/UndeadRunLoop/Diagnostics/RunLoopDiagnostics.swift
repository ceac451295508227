#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Tells on those who misuse loops and timers. Silent, and without cost, unless switched on.
///
/// Under `undead run`, and in a process that was started with `UNDEAD=1`, they are collected for the report in any case;
/// the program notices nothing of that. The thresholds of the report are ``Thresholds/init()``, or come from the
/// environment: `UNDEAD_LATE_FIRE`, `UNDEAD_MODE_STARVED`, `UNDEAD_LOOP_BLOCKED`, `UNDEAD_NEVER_SCHEDULED`, in
/// milliseconds.
///
/// All members are safe to call from any thread.
public enum RunLoopDiagnostics {
  typealias Handler = @Sendable (RunLoopDiagnostic) -> Void

  /// What counts as late, starving and blocking.
  public struct Thresholds: Sendable {
    /// Lateness that makes a fire late.
    public var lateFire: Duration = .milliseconds(50)
    /// How long a timer's mode may not run.
    public var modeStarved: Duration = .seconds(1)
    /// How long a callback may take.
    public var loopBlocked: Duration = .milliseconds(250)
    /// How long a timer may wait to be added to a loop.
    public var neverScheduled: Duration = .seconds(5)

    public init() {}
  }

  /// Switches diagnostics on; timers made from now on remember who made them.
  ///
  /// - Parameters:
  ///   - thresholds: what counts as late, starving and blocking.
  ///   - handler: receives each diagnostic, on the thread that noticed it; nil only collects them.
  public static func enable(
    _ thresholds: Thresholds = Thresholds(), handler: (@Sendable (RunLoopDiagnostic) -> Void)? = nil
  ) {
    Diagnostics.enable(thresholds, handler)
  }

  /// Switches diagnostics off and forgets what was collected.
  public static func disable() { Diagnostics.disable() }

  /// What was noticed since they were switched on; the newest thousand, oldest first.
  public static var collected: [RunLoopDiagnostic] { Diagnostics.collected }

  /// Looks for what shows only by waiting: timers that were never scheduled, loops that outlive their owner, modes that
  /// starve. It is also done from time to time, and when the process exits.
  ///
  /// - Parameter atOnce: do not wait for ``Thresholds/neverScheduled``.
  public static func check(atOnce: Bool = false) { Diagnostics.check(atOnce: atOnce) }
}
#endif
