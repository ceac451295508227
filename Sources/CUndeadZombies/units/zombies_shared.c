#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "zombies/shared/settings.c"
#include "zombies/shared/state.c"
#include "zombies/shared/lock.c"
#include "zombies/shared/threads.c"
#endif
