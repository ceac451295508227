// Endless recursion: the program dies of it as without the tool.
// EXPECT unchecked
// EXPECT signal 11
import Glibc

@inline(never) @_optimize(none) func recurse(_ depth: Int) -> Int {
  recurse(depth + 1) + depth
}
print("before")
fflush(stdout)
print(recurse(0))
