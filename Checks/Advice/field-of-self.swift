// The payload of an enum's case that is the object itself.
// KEPT BY the field
// ADVICE `state.busy.0` refers to the object itself: give `state` another value when the object is done
// FIX give the field another case
final class Machine {
  enum State {
    case idle
    case busy(Machine, Int)
  }
  var state = State.idle
  func start() { state = .busy(self, 1) }
  func stop() { state = .idle }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func run() {
  let machine = Machine()
  machine.start()
  use(machine)
  #if FIXED
    machine.stop()
  #endif
}
run()
