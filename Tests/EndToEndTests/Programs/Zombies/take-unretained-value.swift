// The context pointer of a C callback is taken without a retain, after the last release. If the policy lets the program go on, the
// message and what it reads are reported, not the retain and release around them.
// CASE take-unretained-value
// EXPECT zombie in=debug kind=method type=App.Poller member=tick() allocated=makeContext freed=release used=callback
// EXPECT zombie in=release kind=method|retain|field type=App.Poller allocated=makeContext freed=release used=callback
// EXPECT crash
// CASE report-and-go-on
// EXPECT zombie in=debug kind=method type=App.Poller member=tick() count=3 allocated=makeContext freed=release used=callback
// EXPECT zombie in=debug kind=method type=App.Poller member=count count=3 allocated=makeContext freed=release used=tick
// EXPECT any in=release
// EXPECT exit 0
// OPTIONS --zombie-policy report
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
for _ in 0..<3 { callback(context) }
