// The context pointer of a C callback is taken without a retain, after the last release.
// EXPECT zombie in=debug kind=method type=App.Poller member=tick() allocated=makeContext freed=release used=callback
// EXPECT zombie in=release kind=method|retain|field type=App.Poller allocated=makeContext freed=release used=callback
// EXPECT crash
class Poller {
  var count = 1
  func tick() -> Int { count + 41 }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func makeContext() -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(Poller()).toOpaque()
}
@inline(never) func release(_ context: UnsafeMutableRawPointer) {
  Unmanaged<Poller>.fromOpaque(context).release()
  done()
}
@inline(never) func callback(_ context: UnsafeMutableRawPointer) {
  print(Unmanaged<Poller>.fromOpaque(context).takeUnretainedValue().tick())
}

let context = makeContext()
release(context)
callback(context)
