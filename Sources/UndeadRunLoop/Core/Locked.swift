/// A value behind a lock.
struct Locked<Value>: ~Copyable, @unchecked Sendable {
  // Unchecked: the value is only reached through the lock. Whoever takes a reference out of it has to know why it may.
  private let lock = LoopLock()
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
  borrowing func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value.pointee)
  }
}
