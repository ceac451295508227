// No descriptor is left for anybody.
// EXPECT any
// SHELL ulimit -n 16; exec $RUN
import Glibc

var opened = 0
while open("/dev/null", O_RDONLY) >= 0 { opened += 1 }
print(opened, errno == EMFILE)
