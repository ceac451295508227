// Raw memory that holds objects: the memory is the leak, the objects hang off it.
// EXPECT leak kind=unreferenced types=raw*memory count=3 also=App.Sample at=allocation
final class Sample {
  var value = 4
}
@inline(never) @_optimize(none) func use(_ pointer: UnsafeMutablePointer<Sample>) {}

@inline(never) func record() {
  let samples = UnsafeMutablePointer<Sample>.allocate(capacity: 10)  // @allocation
  for index in 0..<10 { (samples + index).initialize(to: Sample()) }
  use(samples)
}
for _ in 0..<3 { record() }
