#include "world/stop/restart.c"
#include "world/stop/world_stop.c"
#include "world/stop/ptrace.c"
#include "world/stop/signals.c"
