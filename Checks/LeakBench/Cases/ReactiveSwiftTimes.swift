// source: ReactiveCocoa/ReactiveSwift 7e906308e9a8
// A local variable with a closure that calls itself by that variable: the closure holds the variable's box, and the box the
// closure. The fix makes the recursion by a function.
// expect: leak Producer in times

enum ReactiveSwiftTimes: LeakCase {
  final class Producer {
    private var runs = 0
    func start(_ completed: () -> Void) {
      runs += 1
      completed()
    }
  }

  #if FIXED
    static func iterate(_ producer: Producer, _ remaining: Int) {
      producer.start { if remaining > 1 { iterate(producer, remaining - 1) } }
    }
  #endif

  @inline(never) static func times(_ count: Int, _ producer: Producer) {
    #if FIXED
      iterate(producer, count)
    #else
      var remaining = count
      var iterate: (() -> Void)!
      iterate = {
        producer.start {
          remaining -= 1
          if remaining > 0 { iterate() }
        }
      }
      iterate()
    #endif
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { times(3, Producer()) }
  }
}
