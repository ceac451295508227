#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
extension TrackedRunLoop {
  /// When a run in `mode` would have something to do, by the loop's clock: `Int64.min` if it has now, nil if only something
  /// other than time can bring it.
  package func nextInstant(mode: Mode) -> Int64? {
    let (hasWork, due) = core.withLock { () -> (Bool, Int64) in
      let hasWork =
        core.state.pointee.work.hasWork(mode: mode.index, commonModes: core.state.pointee.commonModes)
        || core.state.pointee.sources.hasSignalled(in: mode.index)
      return (hasWork, core.state.pointee.timers.nextWake(mode: mode.index))
    }
    if hasWork || due <= clock.now { return .min }
    return due == .max ? nil : due
  }

  /// Runs in `mode` until an instant of the loop's clock.
  @discardableResult
  package func run(mode: Mode, until instant: Int64) -> RunResult {
    run(mode: mode, deadline: instant, returnAfterSource: false)
  }
}
#endif
