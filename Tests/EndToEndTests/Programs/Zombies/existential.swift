// A message through an existential that nobody retained.
// EXPECT zombie kind=method|retain|field type=App.Printer allocated=make freed=drop used=show
// EXPECT crash
protocol Shape: AnyObject {
  func area() -> Int
}

class Printer: Shape {
  var side = 3
  func area() -> Int { side * side }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make() -> Unmanaged<Printer> { Unmanaged.passRetained(Printer()) }
@inline(never) func drop(_ printer: Unmanaged<Printer>) {
  printer.release()
  done()
}
@inline(never) func show(_ printer: Unmanaged<Printer>) {
  let shape: any Shape = unsafeBitCast(printer.toOpaque(), to: Printer.self)
  print(shape.area())
}

let printer = make()
drop(printer)
show(printer)
