// An error that nobody catches ends the program by a trap.
// EXPECT unchecked
// EXPECT signal 4
import Glibc

struct Failure: Error {}
print("before")
fflush(stdout)
var limits = rlimit(rlim_cur: 0, rlim_max: 0)
setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limits)
throw Failure()
