import Glibc

/// What the tool does when a signal ends it before its own end.
enum Interruption {
  /// From now on each of the signals runs `cleanUp` on a thread of its own and then ends the tool, as it would have done.
  ///
  /// A signal that the tool was started to ignore stays ignored.
  ///
  /// - Parameter signals: they must be blocked in the calling thread, and stay so: other threads inherit that.
  static func clean(after signals: sigset_t, _ cleanUp: @escaping @Sendable () -> Void) {
    let watch = Unmanaged.passRetained(Watch(signals, cleanUp)).toOpaque()
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Watch>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, watch)
    guard code != 0 else { return }
    // Without a thread the tool ends as any other program, and the next one cleans up.
    Unmanaged<Watch>.fromOpaque(watch).release()
    var signals = signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  private final class Watch: Sendable {
    private let signals: sigset_t
    private let cleanUp: @Sendable () -> Void

    init(_ signals: sigset_t, _ cleanUp: @escaping @Sendable () -> Void) {
      self.signals = signals
      self.cleanUp = cleanUp
    }

    func run() {
      var signals = signals
      var number: Int32 = 0
      repeat {
        guard sigwait(&signals, &number) == 0 else { return }
      } while isIgnored(number)
      cleanUp()
      signal(number, SIG_DFL)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      raise(number)
    }

    private func isIgnored(_ number: Int32) -> Bool {
      var action = sigaction()
      guard sigaction(number, nil, &action) == 0 else { return false }
      // Functions of C have no other comparison.
      return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
  }
}
