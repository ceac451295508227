// A continuation that is dropped without being resumed.
// KEPT BY nothing: the task waits without end
// ADVICE , and nothing can resume it any more: resume
// FIX resume it on the path that was forgotten
final class Job { var done = false }
func answer(_ isKnown: Bool, _ next: UnsafeContinuation<Int, Never>) {
  if isKnown { return next.resume(returning: 1) }
  #if FIXED
    next.resume(returning: 0)
  #endif
}
@inline(never) func run() {
  Task {
    let job = Job()
    _ = await withUnsafeContinuation { answer(false, $0) }
    job.done = true
  }
}
run()
try? await Task.sleep(for: .milliseconds(200))
