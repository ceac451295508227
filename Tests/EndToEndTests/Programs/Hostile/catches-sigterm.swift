// The program handles SIGTERM and SIGINT itself.
// EXPECT silent
import Glibc

nonisolated(unsafe) var caught: Int32 = 0
signal(SIGTERM) { caught += $0 }
signal(SIGINT) { caught += $0 }
kill(getpid(), SIGTERM)
kill(getpid(), SIGINT)
print(caught)
signal(SIGINT, SIG_IGN)
kill(getpid(), SIGINT)
print("still here")
