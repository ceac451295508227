#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/limits/limit_functions.c"
#include "session/limits/limits.c"
#include "session/limits/memory_locks.c"
#include "session/limits/relay.c"
#include "session/limits/sandbox_functions.c"
#endif
