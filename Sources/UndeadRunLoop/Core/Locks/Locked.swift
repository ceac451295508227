#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// A value behind a lock.
struct Locked<Value>: ~Copyable, @unchecked Sendable {
  // Unchecked: the value is only reached through the lock. Whoever takes a reference out of it has to know why it may.
  let lock = LoopLock()
  private let value: UnsafeMutablePointer<Value>

  init(_ initial: consuming Value) {
    value = .allocate(capacity: 1)
    value.initialize(to: initial)
  }

  deinit {
    value.deinitialize(count: 1)
    value.deallocate()
    lock.deallocate()
  }

  @inline(__always)
  borrowing func withLock<Output, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Output
  ) throws(Failure) -> Output {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value.pointee)
  }

  /// Calls `body` with the value, or returns nil if the lock stays held for `nanoseconds`.
  borrowing func withLock<Output, Failure: Error>(
    within nanoseconds: Int64, _ body: (inout Value) throws(Failure) -> Output
  ) throws(Failure) -> Output? {
    guard lock.tryLock(for: nanoseconds) else { return nil }
    defer { lock.unlock() }
    return try body(&value.pointee)
  }
}
#endif
