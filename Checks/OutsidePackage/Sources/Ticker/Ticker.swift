import UndeadRunLoop

final class Dial: Sendable {}

/// A timer that nobody adds to a loop: what the check at the end says of it.
private let forgotten = try? TrackedTimer(after: .seconds(1)) { _ in }

/// Runs a loop with a timer named "poll" for a moment; the loop still holds the timer when this returns.
///
/// - Returns: whether it fired.
public func tickForAMoment() throws -> Bool {
  let timer = try TrackedTimer(timeInterval: 0.001, target: Dial(), selector: "turn", repeats: true) { _, timer in
    if timer.firings == 3 { TrackedRunLoop.current.stop() }
  }
  timer.name = "poll"
  forgotten?.name = "forgotten"
  try TrackedRunLoop.current.add(timer, forMode: .default)
  TrackedRunLoop.current.run(for: .seconds(60))
  return timer.firings >= 3
}
