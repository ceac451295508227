#include "world/stop/ptrace.c"
#include "world/stop/restart.c"
#include "world/stop/signals.c"
#include "world/stop/world_stop.c"
