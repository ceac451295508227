// A local variable is captured by the closure stored in the object that the variable holds.
// EXPECT leak kind=retainCycle types=App.Button fields=action count=4 at=button closure=makeButton closureAt=closure
final class Button {
  var presses = 0
  var action: (() -> Void)?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeButton() {
  var button: Button?
  button = Button()  // @button
  button?.action = { button?.presses += 1 }  // @closure
  button?.action?()
  use(button!)
  if button!.presses == 2 { button = nil }
}
for _ in 0..<4 { makeButton() }
