// A program with its own SIGSEGV handler: what it handles is its own affair, and no zombie.
// EXPECT exit 7
// EXPECT silent
import Glibc

var action = sigaction()
action.__sigaction_handler.sa_handler = { _ in
  let text: StaticString = "handled\n"
  write(1, text.utf8Start, text.utf8CodeUnitCount)
  _exit(7)
}
sigaction(SIGSEGV, &action, nil)

@inline(never) @_optimize(none) func read(_ address: Int) -> Int {
  UnsafePointer<Int>(bitPattern: address)!.pointee
}
print("before")
fflush(stdout)
print(read(16))
