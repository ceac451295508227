// A closure is called after its context was freed, as when C code keeps the two words.
// EXPECT zombie kind=closure|retain|field used=callAgain freed=drop allocated=makeClosure|main
// EXPECT crash
final class Box {
  var value = 5
}

struct Words {
  var function: UnsafeRawPointer
  var context: UnsafeRawPointer
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func makeClosure(_ box: Box, _ number: Int) -> () -> Int { { box.value + number } }
@inline(never) func drop(_ closure: inout (() -> Int)?) {
  closure = nil
  done()
}
@inline(never) @_optimize(none) func callAgain(_ words: inout Words) {
  withUnsafePointer(to: &words) { pointer in
    pointer.withMemoryRebound(to: (() -> Int).self, capacity: 1) { print($0.pointee()) }
  }
}

var closure: (() -> Int)? = makeClosure(Box(), 3)
var words = withUnsafeBytes(of: &closure) { $0.loadUnaligned(as: Words.self) }
drop(&closure)
callAgain(&words)
