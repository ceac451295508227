// A child lives on after the program has ended.
// EXPECT silent
import Glibc

@_silgen_name("fork") func forkProcess() -> Int32

print("parent")
fflush(stdout)
if forkProcess() == 0 {
  setsid()
  sleep(3)
  _exit(0)
}
