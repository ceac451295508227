// source: apple/swift-nio 665206000 (#2901)
// The lock allocated its condition variable and only destroyed it. The fix deallocates it under the same condition.
// expect: leak raw in Lock.init

import Glibc

enum NIOConditionLock: LeakCase {
  final class Lock {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
      condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(condition, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
      pthread_cond_destroy(condition)
      #if FIXED
        condition.deallocate()
      #endif
    }

    func signal() { pthread_cond_signal(condition) }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { Lock().signal() }
  }
}
