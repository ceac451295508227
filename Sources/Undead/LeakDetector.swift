import CUndead
import Foundation
import UndeadReport

/// Finds Swift objects that leaked, in the process that asks.
///
/// In test programs, under `undead run` and `undead test`, and with `UNDEAD=1` in the environment, recording starts with
/// the first allocation; in other programs with ``start()``. With `UNDEAD=0` nothing is recorded. All functions may be
/// called from any thread.
public enum LeakDetector {
  /// True while allocations are recorded.
  public static var isActive: Bool { undead_is_active() }

  /// Why nothing is recorded, in one sentence; nil while the instrument is active.
  public static var inactiveReason: String? {
    isActive ? nil : String(cString: undead_inactive_reason())
  }

  /// Starts recording allocations; does nothing if they are recorded already.
  ///
  /// What was allocated before is not known: all that it refers to counts as reachable. So no report is false, but
  /// leaks may be missed, and reports are marked as incomplete. `UNDEAD=1` in the environment avoids that.
  ///
  /// - Throws: ``UndeadError`` if the instrument cannot work here, as under a sanitizer.
  public static func start() throws(UndeadError) {
    guard undead_start() else { throw unavailable }
  }

  /// Starts recording all blocks, and the backtraces of a sample of them: cheap enough to be left on in a service.
  ///
  /// Each allocated byte is chosen with the same probability, so estimates of what a place allocates are unbiased. Types,
  /// counts and leaks are those of all blocks; a leak has a backtrace if one of its blocks was sampled. Does nothing if
  /// recording is on already. `UNDEAD=1 UNDEAD_SAMPLE=512KiB` in the environment does it from the first block on.
  ///
  /// - Parameter meanBytes: one sample for so many allocated bytes, on average.
  /// - Throws: ``UndeadError`` if the instrument cannot work here, as under a sanitizer.
  public static func start(sampleEvery meanBytes: Int) throws(UndeadError) {
    guard meanBytes > 0 else { throw UndeadError("one sample for \(meanBytes) bytes is not possible") }
    guard undead_start_sampled(UInt64(meanBytes)) else { throw unavailable }
  }

  /// Stops recording; does nothing if nothing is recorded. A later check knows nothing of what is allocated from now on.
  public static func stop() {
    undead_stop()
  }

  /// Begins a new generation: distinguishes what is allocated until the next mark from what was there before.
  ///
  /// Heap files know the generation of each block (`undead heap --by generation`). `undead mark PID` does the same from
  /// outside. It takes about a microsecond, and allocations cost no more than before.
  ///
  /// - Parameter name: identifies the mark in reports, as in "after request"; kept are 111 bytes of it in UTF-8.
  /// - Returns: the number of the generation, from 1 on. nil while nothing is recorded (``inactiveReason`` says why), and
  ///   when no more can be distinguished: after 4095 of them, or if their backtraces take up half of the memory reserved.
  @discardableResult
  public static func markGeneration(_ name: String) -> Int? {
    let number = undead_mark_generation(name)
    return number == 0 ? nil : Int(number)
  }

  /// Finds what leaked and returns it with the names of types and fields, and without names for code addresses.
  ///
  /// The calling thread waits; the other threads stand still while the objects are marked, for some milliseconds.
  ///
  /// - Throws: ``UndeadError`` if the instrument is not active or the check could not be made.
  public static func snapshot() throws(UndeadError) -> LeakSnapshot {
    let bytes = try SnapshotBytes()
    do {
      return try Snapshot(decoding: bytes)
    } catch {
      throw UndeadError("the instrument made a snapshot that cannot be read: \(error)")
    }
  }

  /// Finds what leaked and writes it to a snapshot file, for `undead leaks`.
  ///
  /// - Parameter path: the file; replaced when the snapshot is complete, never left half written.
  /// - Throws: ``UndeadError`` if the instrument is not active, or the check or the file could not be made.
  public static func writeSnapshot(toFile path: String) throws(UndeadError) {
    try withMessage { undead_snapshot_write(path, $0, $1) }
  }

  /// Writes all live objects and other blocks, and who holds them, to a heap file, for `undead heap` and `undead diff`.
  ///
  /// The calling thread waits; the other threads stand still while a copy of the process is made, for some milliseconds.
  /// Functions, files and lines are looked up when the file is read.
  ///
  /// - Parameter path: the file; replaced when the heap is complete, never left half written.
  /// - Throws: ``UndeadError`` if the instrument is not active, or the copy or the file could not be made.
  public static func writeHeap(to path: String) throws(UndeadError) {
    try withMessage { undead_heap_write(path, $0, $1) }
  }

  /// Finds what leaked and returns a report of it, with functions, files and lines.
  ///
  /// - Parameter options: what the report leaves out; by default nothing.
  /// - Throws: ``UndeadError`` if the instrument is not active or the check could not be made.
  public static func checkForLeaks(options: ReportOptions = ReportOptions()) throws(UndeadError) -> LeakReport {
    let snapshot = try snapshot()
    let names = Symbolizer().symbolize(snapshot)
    var report = LeakReport(analyzing: [ReportInput(snapshot, symbols: names.symbols)], options: options)
    report.summary.notes += names.notes
    return report
  }
}

/// Why nothing is recorded.
private var unavailable: UndeadError { UndeadError(String(cString: undead_inactive_reason()), .unavailable) }

/// Calls a function of the instrument that reports a failure as a text.
func withMessage(_ body: (UnsafeMutablePointer<CChar>, Int) -> Bool) throws(UndeadError) {
  let message: String? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
    guard let start = buffer.baseAddress else { return "there is no memory" }
    start.initialize(repeating: 0, count: buffer.count)
    return body(start, buffer.count) ? nil : String(cString: start)
  }
  if let message { throw UndeadError(message, undead_is_active() ? .failed : .unavailable) }
}
