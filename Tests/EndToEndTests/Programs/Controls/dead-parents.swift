// Parents that have died, whose memory unowned references of their children keep: their fields still name the children,
// and own nothing. Frames that wait, a suspended task and numbers own them.
// EXPECT silent
import Glibc

final class Child {
  unowned let parent: Parent
  init(_ parent: Parent) { self.parent = parent }
}
final class Parent {
  var child: Child?
}
final class Leaf {
  var number = 1
}
final class Branch {
  let leaf = Leaf()
}
final class Witness {
  unowned let branch: Branch
  init(_ branch: Branch) { self.branch = branch }
}

@inline(never) func orphan() -> Child {
  let parent = Parent()
  let child = Child(parent)
  parent.child = child
  return child
}
@inline(never) func fallen(_ witnesses: inout [Witness]) -> Leaf {
  let branch = Branch()
  witnesses.append(Witness(branch))
  return branch.leaf
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

var numbers: [UInt] = []
nonisolated(unsafe) var suspended: UnsafeContinuation<Void, Never>?
func waitInTask() async {
  var witnesses: [Witness] = []
  let child = orphan()
  let leaf = fallen(&witnesses)
  await withUnsafeContinuation { suspended = $0 }
  use(child)
  use(leaf)
  use(witnesses as AnyObject)
}
// As far as the compiler knows this returns, so that what the caller holds is needed.
@inline(never) func end() {
  if CommandLine.argc > 0 { exit(0) }
}
@inline(never) func waitInFrame() {
  var witnesses: [Witness] = []
  let child = orphan()
  let leaf = fallen(&witnesses)
  let leaves = (0..<3).map { _ in fallen(&witnesses) }
  for _ in 0..<4 { numbers.append(UInt(bitPattern: Unmanaged.passRetained(fallen(&witnesses)).toOpaque())) }
  end()
  use(child)
  use(leaf)
  use(leaves as AnyObject)
  use(witnesses as AnyObject)
}
Task.detached { await waitInTask() }
while suspended == nil { usleep(1000) }
waitInFrame()
