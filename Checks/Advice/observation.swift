// An `onChange` closure of `withObservationTracking` that captures the owner of the observed object.
// KEPT BY the registrar of the observed object, until the next change
// ADVICE the onChange closure of withObservationTracking in App.Screen.watch() is kept until the next change, and captures `self` strongly
// FIX `[weak self]` in the closure
import Observation

@Observable final class Store { var count = 0 }
final class Screen: @unchecked Sendable {
  private let store = Store()
  private var changes = 0
  func watch() {
    #if FIXED
      withObservationTracking {
        _ = store.count
      } onChange: { [weak self] in
        self?.changes += 1
      }
    #else
      withObservationTracking {
        _ = store.count
      } onChange: {
        self.changes += 1
      }
    #endif
  }
}
@inline(never) func run() { Screen().watch() }
run()
