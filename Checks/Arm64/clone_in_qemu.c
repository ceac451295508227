// qemu's user mode refuses what it cannot do, or what does not matter there: the same instructions without these flags.
#define _GNU_SOURCE
#include <sched.h>
#undef CLONE_UNTRACED
#define CLONE_UNTRACED 0
#undef CLONE_FS
#define CLONE_FS 0
#include "world/helper/clone_arm64.c"
