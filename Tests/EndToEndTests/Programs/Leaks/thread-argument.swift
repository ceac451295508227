// The argument of a thread is retained for it and never taken.
// EXPECT leak kind=unreferenced types=App.Job count=10 at=job
import Glibc

final class Job {
  var input = [1, 2, 3]
}
@inline(never) func start() -> pthread_t {
  let job = Job()  // @job
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { argument in
      let job = Unmanaged<Job>.fromOpaque(argument!).takeUnretainedValue()
      job.input.append(4)
      return nil
    }, Unmanaged.passRetained(job).toOpaque())
  return thread
}
for _ in 0..<10 { pthread_join(start(), nil) }
