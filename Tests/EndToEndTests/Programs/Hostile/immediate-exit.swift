// _exit ends the program without a check, with its own status.
// EXPECT exit 3
// EXPECT unchecked
import Glibc

print("gone")
fflush(stdout)
_exit(3)
