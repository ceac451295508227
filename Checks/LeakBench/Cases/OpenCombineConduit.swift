// source: OpenCombine/OpenCombine 93b82d0cc967
// The subject keeps its subscriptions, each of which kept the subject. The fix makes the reference weak.
// expect: leak Subject via Conduit.parent

enum OpenCombineConduit: LeakCase {
  final class Subject<Output, Failure: Error> {
    private var subscriptions: [Conduit] = []

    func subscribe(_ receive: @escaping (Output) -> Void) -> Conduit {
      let conduit = Conduit(parent: self, downstream: receive)
      subscriptions.append(conduit)
      return conduit
    }

    func send(_ value: Output) { for conduit in subscriptions { conduit.downstream?(value) } }

    final class Conduit {
      #if FIXED
        fileprivate weak var parent: Subject?
      #else
        fileprivate var parent: Subject?
      #endif
      fileprivate var downstream: ((Output) -> Void)?

      init(parent: Subject, downstream: @escaping (Output) -> Void) {
        self.parent = parent
        self.downstream = downstream
      }
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let subject = Subject<String, Never>()
      _ = subject.subscribe { _ in }
      subject.send("value")
    }
  }
}
