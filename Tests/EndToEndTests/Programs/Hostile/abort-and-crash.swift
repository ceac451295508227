// The program aborts; the tool passes the signal on.
// EXPECT signal 6
// EXPECT unchecked
import Glibc

print("before")
fflush(stdout)
abort()
