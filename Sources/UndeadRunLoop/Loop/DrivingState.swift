#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch

/// Who drives a loop.
struct DrivingState {
  /// The mode that they serve.
  var mode = ModeTable.defaultMode
  /// Somebody was given the loop's descriptor.
  var isPolledOutside = false
  /// How many Dispatch queues drive the loop.
  var queues = 0
  /// Resume the queues that found the loop running elsewhere.
  private var waiting: [() -> Void] = []

  var isWaiting: Bool { !waiting.isEmpty }
  var isDriven: Bool { isPolledOutside || queues > 0 }

  mutating func wait(_ resume: @escaping () -> Void) { waiting.append(resume) }

  mutating func takeWaiting() -> [() -> Void] {
    if waiting.isEmpty { return [] }
    defer { waiting = [] }
    return waiting
  }
}
#endif
