// source: swift-server/async-http-client fc510a3 (#614)
// A delegate that starts a pool of threads of its own never stopped it: the waiting thread keeps the pool. The fix stops
// the pool when the download is finished.
// expect: growth Pool in Download.init
// rounds: 2 12

import Glibc

enum AHCDownloadThreads: LeakCase {
  final class Pool: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [() -> Void] = []
    private var isStopped = false
    private var thread = pthread_t()
    private var buffer = [UInt8](repeating: 0, count: 4096)

    init() {
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(condition, nil)
    }

    deinit {
      mutex.deallocate()
      condition.deallocate()
    }

    func start() {
      let argument = Unmanaged.passRetained(self).toOpaque()
      pthread_create(
        &thread, nil,
        { argument in
          Unmanaged<Pool>.fromOpaque(argument!).takeRetainedValue().work()
          return nil
        }, argument)
    }

    private func work() {
      pthread_mutex_lock(mutex)
      while !isStopped {
        while let job = jobs.popLast() { job() }
        if !isStopped { pthread_cond_wait(condition, mutex) }
      }
      pthread_mutex_unlock(mutex)
    }

    func stop() {
      pthread_mutex_lock(mutex)
      isStopped = true
      pthread_cond_signal(condition)
      pthread_mutex_unlock(mutex)
      pthread_join(thread, nil)
    }
  }

  final class Download {
    private let pool = Pool()
    var received = 0

    func receive(_ bytes: Int) {
      if received == 0 { pool.start() }
      received += bytes
    }

    func finish() {
      #if FIXED
        pool.stop()
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let download = Download()
      download.receive(100)
      download.finish()
    }
  }
}
