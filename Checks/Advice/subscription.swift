// The closure of a subscription, which captures what keeps the publisher.
// KEPT BY the subscription
// ADVICE the closure of the subscription captures `self` strongly, which leads to the subscription by `subject` of App.Model
// FIX `[weak self]`
import OpenCombine

final class Model {
  private let subject = PassthroughSubject()
  private var subscription: AnyCancellable?
  private var total = 0
  func start() {
    #if FIXED
      subscription = subject.sink { [weak self] in self?.total += $0 }
    #else
      subscription = subject.sink { self.total += $0 }
    #endif
  }
}
@inline(never) func run() { Model().start() }
run()
