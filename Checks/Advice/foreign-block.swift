// An object that C code was given, whose block is lost.
// KEPT BY a block of C code that nothing refers to
// ADVICE only an unreachable block of C code
// FIX undo what gave C code the object
import Glibc

final class Session {}
@inline(never) func run() {
  var root: UnsafeMutableRawPointer?
  let session = Unmanaged.passRetained(Session()).toOpaque()
  tsearch(session, &root) { $0 == $1 ? 0 : 1 }
  #if FIXED
    tdelete(session, &root) { $0 == $1 ? 0 : 1 }
    Unmanaged<Session>.fromOpaque(session).release()
  #endif
}
run()
