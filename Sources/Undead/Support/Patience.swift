import CUndead
import Foundation

#if canImport(Dispatch)
  import Dispatch
#endif

/// Waiting for something to become true, with pauses that grow; never longer than it takes.
enum Patience {
  /// Waits on the calling thread, and runs its run loop meanwhile; true if the condition became true in time.
  static func wait(_ grace: Duration, until condition: () -> Bool) -> Bool {
    var pauses = Pauses(grace)
    while !condition() {
      guard let pause = pauses.next() else { return false }
      runLoops(pause)
    }
    return true
  }

  /// Waits while the task is suspended; true if the condition became true in time.
  ///
  /// Even if the task is cancelled: what it started may need the time all the same.
  static nonisolated(nonsending) func wait(
    _ grace: Duration, until condition: () -> Bool
  ) async -> Bool {
    var pauses = Pauses(grace)
    // What only waits for its turn needs no pause.
    for _ in 0..<8 where !condition() { await Task.yield() }
    while !condition() {
      guard let pause = pauses.next() else { return false }
      await sleep(pause)
    }
    return true
  }

  /// How long to wait before the next look: longer and longer, until the time is up.
  private struct Pauses {
    private let end: ContinuousClock.Instant
    private var pause: Duration = .milliseconds(1)

    init(_ grace: Duration) { end = .now + grace }

    mutating func next() -> Duration? {
      let left = end - .now
      guard left > .zero else { return nil }
      defer { pause = min(pause * 2, .milliseconds(50)) }
      return min(pause, left)
    }
  }

  /// Suspends the task for that long, even if it is cancelled: a check must see the same, even if it was given up.
  static nonisolated(nonsending) func sleep(_ duration: Duration) async {
    #if canImport(Dispatch)
      let deadline = DispatchTime.now() + .nanoseconds(Int(duration.nanoseconds))
      await withUnsafeContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: deadline) { continuation.resume() }
      }
    #else
      await Task.detached { try? await Task.sleep(for: duration) }.value
    #endif
  }

  /// Blocks the thread for that long.
  static func pause(_ duration: Duration) {
    #if os(WASI)
      // There is one thread, and nothing that it could wait for.
      let end = ContinuousClock.now + duration
      while ContinuousClock.now < end {}
    #else
      Thread.sleep(forTimeInterval: duration / .seconds(1))
    #endif
  }

  /// Runs the thread's run loops, ours and Foundation's, for the given time, or sleeps if there are none.
  private static func runLoops(_ duration: Duration) {
    let end = ContinuousClock.now + duration
    let ran = undead_run_current_loop(duration.nanoseconds)
    #if !os(WASI)
      let left = end - ContinuousClock.now
      if left > .zero || ran {
        let limit = Date(timeIntervalSinceNow: max(0, Double(left.nanoseconds) / 1e9))
        if RunLoop.current.run(mode: .default, before: limit) { return }
      }
    #endif
    let rest = end - ContinuousClock.now
    if rest > .zero { pause(rest) }
  }
}

extension Duration {
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
  }

  /// As a person reads it: "250 ms", "3.20 s".
  var text: String {
    let milliseconds = Double(nanoseconds) / 1e6
    return milliseconds < 1000
      ? "\(Int(milliseconds.rounded())) ms" : String(format: "%.2f s", milliseconds / 1000)
  }
}
