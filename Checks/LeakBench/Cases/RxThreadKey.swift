// source: ReactiveX/RxSwift bd5a9657
// The initialiser of a static property allocated memory for the key of a thread-local variable and did not free it.
// expect: leak raw in makeKey
// rounds: 1

import Glibc

enum RxThreadKey: LeakCase {
  final class Scheduler: Sendable {
    static let isScheduleRequired: pthread_key_t = makeKey()

    @inline(never) static func makeKey() -> pthread_key_t {
      let key = UnsafeMutablePointer<pthread_key_t>.allocate(capacity: 1)
      #if FIXED
        defer { key.deallocate() }
      #endif
      guard pthread_key_create(key, nil) == 0 else { fatalError("no key") }
      return key.pointee
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { pthread_setspecific(Scheduler.isScheduleRequired, nil) }
  }
}
