// source: OpenCombine/OpenCombine abb4f0bb2731
// A subscription that was cancelled stayed in the list of the subject, with all that is downstream. The fix removes it.
// expect: growth Conduit via Subject.subscriptions

enum OpenCombineCancelled: LeakCase {
  final class Sink {
    var received: [Int] = []
  }

  final class Conduit {
    unowned let subject: Subject
    var downstream: Sink?
    var isCancelled = false

    init(_ subject: Subject, _ downstream: Sink) {
      self.subject = subject
      self.downstream = downstream
    }

    func cancel() {
      isCancelled = true
      #if FIXED
        downstream = nil
        subject.subscriptions.removeAll { $0 === self }
      #endif
    }
  }

  final class Subject {
    var subscriptions: [Conduit] = []

    func sink() -> Conduit {
      let conduit = Conduit(self, Sink())
      subscriptions.append(conduit)
      return conduit
    }

    func send(_ value: Int) {
      for conduit in subscriptions where !conduit.isCancelled { conduit.downstream?.received.append(value) }
    }
  }

  nonisolated(unsafe) static let subject = Subject()

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds {
      let conduit = subject.sink()
      subject.send(round)
      conduit.cancel()
    }
  }
}
