// Deaths on many threads.
import Foundation
import Synchronization

func manageThreads(_ way: String) -> Bool {
  switch way {
  case "short-threads":
    for _ in 0..<50 {
      let threads = (0..<4).map { _ in
        onThread { _ in
          churn(1000)
          return nil
        }
      }
      for thread in threads { pthread_join(thread, nil) }
    }
    print(counters().evicted_for_bytes > 0, settle(16 << 20))
  case "long-gone-thread":
    // What a thread that has ended let die goes before what died later.
    // Too large for the caches of threads, so that no other gets its address.
    let thread = onThread { _ in
      first = dead { Big.create(minimumCapacity: 5000) { _ in 0 } }
      return nil
    }
    pthread_join(thread, nil)
    let wasKept = isKept(first!)
    for _ in 0..<200_000 { keep(dead { Animal() }) }
    print(wasKept, isKept(first!), settle(16 << 20))
  case "large":
    // One object needs the room of most of the others, whichever thread they died on.
    threads(8) { _ in churn(3000) }
    let large = dead { Big.create(minimumCapacity: 10 << 20) { _ in 0 } }
    print(isKept(large), settle(16 << 20))
  case "fork-and-threads":
    // Types that another thread is about to make in the moment of the fork stay unmade in the child.
    churn(100)
    _ = isKept(dead { Animal() })
    for _ in 0..<4 {
      pthread_detach(
        onThread { _ in
          while true { churn(100) }
        })
    }
    let fork = library("fork", as: (@convention(c) () -> Int32).self)
    for _ in 0..<15 {
      let child = fork()
      if child == 0 {
        alarm(20)
        let mine = dead { Animal() }
        churn(300)
        let kept = isKept(mine)
        resize(0, 0)
        _exit(kept && counters().kept == 0 ? 7 : 8)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      if status != 7 << 8 { print("child: \(status)") }
    }
    print("done")
    exit(0)
  case "signals":
    // A handler in which objects die, wherever it interrupts the deaths of others. Neither of them allocates.
    living = (0..<400_000).map { _ in Unmanaged.passRetained(Animal()) }
    signal(SIGPROF) { _ in letGo(3) }
    var timer = itimerval(it_interval: timeval(tv_sec: 0, tv_usec: 500), it_value: timeval(tv_sec: 0, tv_usec: 500))
    let before = counters().deaths
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    while next.load(ordering: .relaxed) < living.count { letGo(100) }
    timer = itimerval()
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    print(counters().deaths - before > 390_000, settle(64 << 20))
  default: return false
  }
  return true
}

nonisolated(unsafe) var first: Unmanaged<ManagedBuffer<Int, UInt8>>?
nonisolated(unsafe) var living: [Unmanaged<Animal>] = []
let next = Atomic(0)
@inline(never) func letGo(_ count: Int) {
  let start = next.wrappingAdd(count, ordering: .relaxed).oldValue
  living.withUnsafeBufferPointer { living in
    for index in min(start, living.count)..<min(start + count, living.count) { living[index].release() }
  }
}
final class Big: ManagedBuffer<Int, UInt8> {}
