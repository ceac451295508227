// The report names the override that would have run, not the method that the caller sees.
// EXPECT zombie kind=method type=App.Circle member=Circle.area() allocated=make freed=drop used=measure
// EXPECT crash
class Shape {
  func area() -> Double { 0 }
}

class Circle: Shape {
  var radius = 2.0
  override func area() -> Double { radius * radius * 3.14 }
}

class Square: Shape {
  var side = 2.0
  override func area() -> Double { side * side }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make(_ round: Bool) -> Unmanaged<Shape> {
  Unmanaged.passRetained(round ? Circle() as Shape : Square())
}
@inline(never) func drop(_ shape: Unmanaged<Shape>) {
  shape.release()
  done()
}
@inline(never) @_optimize(none) func measure(_ shape: Unmanaged<Shape>) {
  print(shape._withUnsafeGuaranteedRef { $0.area() })
}

let shape = make(true)
drop(shape)
measure(shape)
