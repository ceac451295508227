// `assign(to:on:)` with `self`, which keeps the publisher.
// KEPT BY the subscription
// ADVICE assign(to:on:) holds its object, which leads to the subscription by `subject` of App.Model
// FIX `sink` with `[weak self]`
import OpenCombine

final class Model {
  private let subject = PassthroughSubject()
  private var subscription: AnyCancellable?
  var total = 0
  func start() {
    #if FIXED
      subscription = subject.sink { [weak self] in self?.total = $0 }
    #else
      subscription = subject.assign(to: \.total, on: self)
    #endif
  }
}
@inline(never) func run() { Model().start() }
run()
