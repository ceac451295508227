// A closure context that was retained for a C callback and never released.
// EXPECT leak kind=unreferenced count=6 also=App.Target
final class Target {
  var hits = 0
}
final class Box {
  let action: () -> Void
  init(_ action: @escaping () -> Void) { self.action = action }
}
@inline(never) @_optimize(none) func use(_ pointer: UnsafeMutableRawPointer) {}

@inline(never) func register(_ number: Int) {
  let target = Target()
  let box = Box { target.hits += number }
  use(Unmanaged.passRetained(box).toOpaque())
}
for number in 0..<6 { register(number) }
