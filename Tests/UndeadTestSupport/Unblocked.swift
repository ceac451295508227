import Foundation

extension Process {
  /// Starts the process with no signal blocked: tests run on threads that block all of them, and a child would inherit that.
  package func runUnblocked() throws {
    var none = sigset_t()
    var before = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try run()
  }
}
