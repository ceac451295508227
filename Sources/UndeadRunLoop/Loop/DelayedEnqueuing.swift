#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
// What Swift's `SchedulingExecutor` asks of an executor. The protocol is no public interface of the toolchain (6.3 has it as
// an experimental one), so a loop has its functions and does not conform: `Task.sleep(for:)` knows nothing of them, and
// `Task.sleep(until:clock:)` needs a `LoopClock`.
extension TrackedRunLoop {
  /// Runs a job on the loop's thread after a delay, by the loop's clock. The loop lives until then.
  ///
  /// - Parameters:
  ///   - job: what runs then.
  ///   - delay: zero or less is as soon as possible.
  ///   - tolerance: by how much the loop may be late, to wake up less often.
  public func enqueue(_ job: consuming ExecutorJob, after delay: Duration, tolerance: Duration? = nil) {
    let job = UnownedJob(job)
    if delay <= .zero { return enqueue(job) }
    let deadline = Instants.add(clock.now, Instants.nanoseconds(roundingUp: delay))
    let leeway = tolerance.map { max(0, Instants.nanoseconds($0)) } ?? 0
    let timer = TrackedTimer(due: deadline, clock: clock, leeway: leeway) { [self] _ in enqueue(job) }
    // A job that never ran would be a task that never ends. An ended loop has somebody who stands in for it.
    timer.makeExtras().onEnd { [self] reason in if reason != .fired { enqueue(job) } }
    do { _ = try start(timer, .common) } catch { enqueue(job) }
  }

  /// Runs a job on the loop's thread when a clock has come to an instant, as far as that is known now.
  public func enqueue<Time: Clock>(
    _ job: consuming ExecutorJob, at instant: Time.Instant, tolerance: Duration? = nil, clock: Time
  ) where Time.Duration == Duration {
    enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance)
  }
}
#endif
