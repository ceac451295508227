#if canImport(Darwin) || UNDEAD_WITHOUT_INSTRUMENT
  import Foundation

  /// A value that one thread at a time uses. Apple's systems have that of `Synchronization` only from macOS 15 on, and
  /// packages that are tested support older ones.
  // Unchecked: the value is only used under the lock.
  package final class Mutex<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var value: Value

    package init(_ value: sending Value) {
      self.value = value
    }

    package func withLock<Output, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Output
    ) throws(Failure) -> sending Output {
      lock.lock()
      defer { lock.unlock() }
      return try body(&value)
    }

    /// The same, or nil if another thread has the value.
    package func withLockIfAvailable<Output, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Output
    ) throws(Failure) -> sending Output? {
      guard lock.try() else { return nil }
      defer { lock.unlock() }
      return try body(&value)
    }
  }
#else
  import Synchronization

  package typealias Mutex<Value: ~Copyable> = Synchronization.Mutex<Value>
#endif
