// What waits for a check, as the task sees it: the thread that the task ran on goes on with others.

extension LeakDetector {
  /// Finds what leaked, on a thread of its own, and returns it with the names of types and fields, and without names for code addresses.
  ///
  /// The task is suspended; all threads stand still while the objects are marked, for some milliseconds.
  ///
  /// - Throws: ``UndeadError`` if the instrument is not active or the check could not be made.
  public static nonisolated(nonsending) func snapshot() async throws(UndeadError) -> LeakSnapshot {
    try await onOwnThread { () throws(UndeadError) in try snapshot() }
  }

  /// Finds what leaked, on a thread of its own, and writes it to a snapshot file, for `undead leaks`.
  ///
  /// - Parameter path: the file; replaced when the snapshot is complete, never left half written.
  /// - Throws: ``UndeadError`` if the instrument is not active, or the check or the file could not be made.
  public static nonisolated(nonsending) func writeSnapshot(toFile path: String) async throws(UndeadError) {
    try await onOwnThread { () throws(UndeadError) in try writeSnapshot(toFile: path) }
  }

  /// Writes all live objects and other blocks, and who holds them, to a heap file, on a thread of its own.
  ///
  /// - Parameter path: the file; replaced when the heap is complete, never left half written.
  /// - Throws: ``UndeadError`` if the instrument is not active, or the copy or the file could not be made.
  public static nonisolated(nonsending) func writeHeap(to path: String) async throws(UndeadError) {
    try await onOwnThread { () throws(UndeadError) in try writeHeap(to: path) }
  }

  /// Finds what leaked, on a thread of its own, and returns a report of it, with functions, files and lines.
  ///
  /// - Parameter options: what the report leaves out; by default nothing.
  /// - Throws: ``UndeadError`` if the instrument is not active or the check could not be made.
  public static nonisolated(nonsending) func checkForLeaks(
    options: ReportOptions = ReportOptions()
  ) async throws(UndeadError) -> LeakReport {
    try await onOwnThread { () throws(UndeadError) in try checkForLeaks(options: options) }
  }

  private static nonisolated(nonsending) func onOwnThread<Value: Sendable>(
    _ work: @escaping @Sendable () throws(UndeadError) -> Value
  ) async throws(UndeadError) -> Value {
    try await OwnThread.run { Result(catching: work) }.get()
  }
}
