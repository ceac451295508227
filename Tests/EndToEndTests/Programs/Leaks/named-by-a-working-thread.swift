// A cycle that nobody owns, but that a frame of a running thread names, further out than the function at work.
// EXPECT suspect kind=heldByThread types=App.Parent,App.Child fields=child,parent count=1 at=parent
import Foundation

final class Parent {
  var child: Child?
}
final class Child {
  var parent: Parent?
}

nonisolated(unsafe) var workplace: UnsafeMutablePointer<UInt>?

@inline(never) @_optimize(none)
func makeCycle() -> UInt {
  let parent = Parent()  // @parent
  let child = Child()
  parent.child = child
  child.parent = parent
  return UInt(bitPattern: Unmanaged.passUnretained(parent).toOpaque())
}

@inline(never) @_optimize(none)
func work(_ words: UnsafeMutablePointer<UInt>) {
  while words[1] != 0 { words[1] &+= 1 }
}

/// Works far from where earlier calls have left words on the stack.
@inline(never) @_optimize(none)
func descend(_ depth: Int, _ words: UnsafeMutablePointer<UInt>) -> UInt {
  if depth > 0 { return descend(depth - 1, words) &+ 1 }
  work(words)
  return 0
}

@inline(never) @_optimize(none)
func workAfterwards(_ words: UnsafeMutablePointer<UInt>) {
  words[0] = makeCycle()
  words[1] = 1
  workplace = words
  words[1] = descend(200, words)
}

@inline(never) @_optimize(none)
func runThread() {
  var words: (UInt, UInt) = (0, 0)
  withUnsafeMutablePointer(to: &words) { words in
    words.withMemoryRebound(to: UInt.self, capacity: 2) { workAfterwards($0) }
  }
}

Thread { runThread() }.start()
while (workplace?[1] ?? 0) < 1000 { usleep(1000) }
exit(0)
