// A bound method stored in a property: `self.handle` captures self without saying so.
// EXPECT leak kind=retainCycle types=App.Keyboard fields=callback count=4 at=keyboard
final class Keyboard {
  var keys = 0
  var callback: ((Int) -> Void)?
  func handle(_ key: Int) { keys += key }
  func attach() { callback = handle }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeKeyboard() {
  let keyboard = Keyboard()  // @keyboard
  keyboard.attach()
  keyboard.callback?(3)
  use(keyboard)
}
for _ in 0..<4 { makeKeyboard() }
