#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Synchronization

/// Names for loops that were given none.
enum LoopNames {
  private static let lastNumber = Atomic(0)

  /// Numbers rather than ids of threads: they are the same from run to run, if threads start in the same order.
  static func next(_ kind: String) -> String {
    "\(kind) \(lastNumber.add(1, ordering: .relaxed).newValue)"
  }

  /// The calling thread's name; threads that nobody named have the name of the process, which shows nothing.
  static func ofThread() -> String {
    let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { buffer in
      undead_loop_has_thread_name(buffer.baseAddress) ? buffer.baseAddress.map { String(cString: $0) } : nil
    }
    return name ?? next("thread")
  }
}
#endif
