// One release too many, which optimised code makes together with those that are due.
// EXPECT zombie kind=release type=App.Buffer used=finish
// EXPECT crash
final class Buffer {
  var bytes = [UInt8](repeating: 0, count: 10)
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
final class Pool {
  var free = [Buffer(), Buffer()]
}

@inline(never) func finish(_ pool: Pool) {
  let buffer = pool.free.removeLast()
  use(buffer)
  Unmanaged.passUnretained(buffer).release()
}

finish(Pool())
print("not reached")
