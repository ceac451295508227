// A class with a resilient superclass: its metadata is made at run time, its slots and fields lie where the library says.
// LIBRARY Toolkit.swift -enable-library-evolution
// EXPECT zombie kind=method type=App.Button member=draw allocated=make freed=drop used=useOverride
// EXPECT zombie kind=method type=App.Button member=layOut allocated=make freed=drop used=useInherited
// EXPECT zombie kind=method type=App.Button member=title allocated=make freed=drop used=useField
// EXPECT zombie kind=method type=App.Button member=press() allocated=make freed=drop used=useOwn
// EXPECT zombie kind=method type=App.Button member=presses allocated=make freed=drop used=press
// EXPECT zombie in=debug kind=method type=App.Button member=presses allocated=make freed=drop used=draw
// EXPECT zombie in=release kind=field type=App.Button member=presses allocated=make freed=drop used=use
// EXPECT exit 0
// OPTIONS --zombie-policy report
import Toolkit

class Button: Control {
  var presses = 7
  override func draw() -> Int { presses }
  func press() -> Int { presses + 1 }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Button> { Unmanaged.passRetained(Button()) }
@inline(never) func drop(_ button: Unmanaged<Button>) {
  button.release()
  done()
}
@inline(never) @_optimize(none) func useOverride(_ button: Unmanaged<Button>) {
  print(button._withUnsafeGuaranteedRef { ($0 as Control).draw() })
  done()
}
@inline(never) @_optimize(none) func useInherited(_ button: Unmanaged<Button>) {
  print(button._withUnsafeGuaranteedRef { $0.layOut() })
  done()
}
@inline(never) @_optimize(none) func useField(_ button: Unmanaged<Button>) {
  print(button._withUnsafeGuaranteedRef { $0.title.utf8.count })
  done()
}
@inline(never) @_optimize(none) func useOwn(_ button: Unmanaged<Button>) {
  print(button._withUnsafeGuaranteedRef { $0.press() })
  done()
}

let button = make()
drop(button)
useOverride(button)
useInherited(button)
useField(button)
useOwn(button)
