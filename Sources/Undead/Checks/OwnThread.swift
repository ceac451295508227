import CUndead

#if canImport(Dispatch)
  import Dispatch
#endif

/// Runs work on a thread that was made for it and then ends: nothing of the work stays behind on a stack, where it
/// would be a reference to whatever was looked at.
package enum OwnThread {
  // The closure of a call, handed through C.
  private final class Call: Sendable {
    let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) {
      self.work = work
    }
  }

  /// Starts the work; runs it on the calling thread if there is no other.
  package static func start(_ work: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Call(work)).toOpaque()
    let run: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
      guard let context else { return }
      Unmanaged<Call>.fromOpaque(context).takeRetainedValue().work()
    }
    if !undead_call_on_thread(run, context) { run(context) }
  }

  /// Does the work and waits for its result.
  package static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Value {
    #if canImport(Dispatch)
      let done = DispatchSemaphore(value: 0)
      let slot = Slot<Value>()
      start {
        slot.value = work()
        done.signal()
      }
      done.wait()
      guard let value = slot.value else { preconditionFailure("the work has set its result") }
      return value
    #else
      return work()
    #endif
  }

  /// Does the work while the task is suspended.
  package static nonisolated(nonsending) func run<Value: Sendable>(
    _ work: @escaping @Sendable () -> Value
  ) async -> Value {
    await withUnsafeContinuation { continuation in
      start { continuation.resume(returning: work()) }
    }
  }

  // Unchecked: written before the semaphore is signalled, read after it was waited for.
  private final class Slot<Value>: @unchecked Sendable {
    var value: Value?
  }
}
