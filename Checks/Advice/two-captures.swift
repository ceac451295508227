// A closure that captures two objects, each of which leads back to it.
// KEPT BY the closure, by either of them
// ADVICE which it captures as well and which leads back, too
// FIX both weakly
import Foundation

final class Flow {
  private var steps: [Flow] = []
  private var onFinish: (() -> Void)?
  private var count = 0
  func push() {
    let step = Flow()
    #if FIXED
      step.onFinish = { [weak self, weak step] in
        self?.count += 1
        step?.count += 1
      }
    #else
      step.onFinish = {
        self.count += 1
        step.count += 1
      }
    #endif
    steps.append(step)
  }
}
@inline(never) func run() { Flow().push() }
run()
