// A method of `self` as a value, in a field of an object that `self` has.
// KEPT BY the method's value, which holds `self`
// ADVICE `onTap` of App.Button holds a method of `self`, written as a value in App.Form.start() (`self.method`)
// FIX `{ [weak self] in self?.tapped() }`
final class Button { var onTap: (() -> Void)? }
final class Form {
  private let button = Button()
  private var taps = 0
  func tapped() { taps += 1 }
  func start() {
    #if FIXED
      button.onTap = { [weak self] in self?.tapped() }
    #else
      button.onTap = self.tapped
    #endif
  }
}
@inline(never) func run() { Form().start() }
run()
