#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// What gives a display link its frames: ``TimedFrameSource`` or ``ManualFrameSource``.
public class FrameSource: @unchecked Sendable {
  var framesPerSecond: Int { fatalError("FrameSource is abstract") }

  init() {}

  /// The instant of the loop's clock, in nanoseconds, at which the first frame after `instant` begins; `Int64.max` if the
  /// source says by itself when a frame begins.
  func frame(after instant: Int64) -> Int64 { fatalError("FrameSource is abstract") }

  /// A display link needs notifications of frames that cannot be predicted.
  func add(_ listener: @escaping @Sendable (_ timestamp: Int64) -> Void) -> Int { 0 }

  func remove(_ listener: Int) {}
}

/// Frames at a constant rate, by the clock of the display link's loop.
public final class TimedFrameSource: FrameSource, @unchecked Sendable {
  private let rate: Int
  override var framesPerSecond: Int { rate }

  /// - Parameter framesPerSecond: at least 1; 60 by default.
  public init(framesPerSecond: Int = 60) { rate = max(1, framesPerSecond) }

  override func frame(after instant: Int64) -> Int64 {
    let rate = Int64(rate)
    let second = Int64(1_000_000_000)
    let whole = instant / second
    // Counted from the full second, so that rates which do not divide it exactly do not drift.
    let index = (instant - whole * second) * rate / second + 1
    var next = Instants.add(whole * second, index * second / rate)
    if next <= instant { next = Instants.add(whole * second, (index + 1) * second / rate) }
    return next
  }
}

/// Frames that begin on request: a real display's vertical sync, or a test.
public final class ManualFrameSource: FrameSource, @unchecked Sendable {
  private let rate: Int
  override var framesPerSecond: Int { rate }
  private let listeners = Locked<(next: Int, all: [Int: @Sendable (Int64) -> Void])>((1, [:]))

  /// - Parameter framesPerSecond: the nominal rate.
  public init(framesPerSecond: Int = 60) { rate = max(1, framesPerSecond) }

  override func frame(after instant: Int64) -> Int64 { .max }

  override func add(_ listener: @escaping @Sendable (Int64) -> Void) -> Int {
    listeners.withLock { listeners in
      listeners.all[listeners.next] = listener
      defer { listeners.next += 1 }
      return listeners.next
    }
  }

  override func remove(_ listener: Int) {
    // Let go of without the lock: it may be the last reference to what it captured.
    let removed = listeners.withLock { $0.all.removeValue(forKey: listener) }
    withExtendedLifetime(removed) {}
  }

  var listenerCount: Int { listeners.withLock { $0.all.count } }

  /// A frame begins now.
  ///
  /// - Parameter timestamp: when it began, by the loops' clock.
  public func beginFrame(timestamp: Duration) {
    let timestamp = Instants.nanoseconds(timestamp)
    for (_, listener) in listeners.withLock({ $0.all.sorted { $0.key < $1.key } }) { listener(timestamp) }
  }
}
#endif
