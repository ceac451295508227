// NSObject subclasses, generic too, with fields before and after.
// MODULE Legacy
// EXPECT leak kind=retainCycle types=Legacy.Controller,Legacy.Cell<Swift.Int> fields=cell,controller count=4 at=controller|cell
import Foundation

class Base: NSObject {
  var flags: UInt8 = 1
}
final class Controller: Base {
  var name = "controller"
  var cell: Cell<Int>?
}
final class Cell<Value>: Base {
  var value: Value
  var controller: Controller?
  init(_ value: Value) { self.value = value }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make(_ number: Int) {
  let controller = Controller()  // @controller
  let cell = Cell(number)  // @cell
  controller.cell = cell
  cell.controller = controller
  use(controller)
}
for number in 0..<4 { make(number) }
