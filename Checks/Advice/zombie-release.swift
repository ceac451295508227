// A release more than retains.
// KEPT BY nothing
// ADVICE there is one release more than retains
// FIX `passRetained` for each `release()`
// OPTIONS --zombies
final class Track {}
@inline(never) func run() {
  #if FIXED
    let track = Unmanaged.passRetained(Track())
  #else
    let track = Unmanaged.passUnretained(Track())
  #endif
  track.release()
}
run()
