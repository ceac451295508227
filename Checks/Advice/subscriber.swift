// An object that subscribes to the publisher that it has.
// KEPT BY the publisher
// ADVICE a publisher or subscription holds its owner, which leads to it by `subject` of App.Model
// FIX complete the publisher, or cancel the subscription
import OpenCombine

final class Model: Subscriber {
  private let subject = PassthroughSubject()
  private var total = 0
  func start() { subject.subscribe(self) }
  func receive(_ value: Int) { total += value }
  func stop() { subject.complete() }
}
@inline(never) func run() {
  let model = Model()
  model.start()
  #if FIXED
    model.stop()
  #endif
}
run()
