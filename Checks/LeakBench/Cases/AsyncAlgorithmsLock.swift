// source: apple/swift-async-algorithms 4c3ea81 (#331)
// A lock that is a struct around allocated memory destroyed the mutex and kept the memory. The fix deallocates it.
// expect: leak raw in Lock.allocate

import Glibc

enum AsyncAlgorithmsLock: LeakCase {
  struct Lock {
    private let platformLock: UnsafeMutablePointer<pthread_mutex_t>

    static func allocate() -> Lock {
      let platformLock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      pthread_mutex_init(platformLock, nil)
      return Lock(platformLock: platformLock)
    }

    func deinitialize() {
      pthread_mutex_destroy(platformLock)
      #if FIXED
        platformLock.deallocate()
      #endif
    }

    func withLock(_ body: () -> Void) {
      pthread_mutex_lock(platformLock)
      body()
      pthread_mutex_unlock(platformLock)
    }
  }

  final class Channel {
    private let lock = Lock.allocate()
    private var sent = 0
    func send() { lock.withLock { sent += 1 } }
    deinit { lock.deinitialize() }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { Channel().send() }
  }
}
