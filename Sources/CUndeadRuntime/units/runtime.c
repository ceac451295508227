#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "runtime/liveness.c"
#endif
