#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "world/stop/restart.c"
#include "world/stop/saved_registers.c"
#include "world/stop/world_stop.c"
#include "world/stop/ptrace.c"
#include "world/stop/signals.c"
#endif
