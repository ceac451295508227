#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "world/threads/given.c"
#include "world/threads/images.c"
#include "world/threads/intervals.c"
#include "world/threads/proc_ids.c"
#include "world/threads/vectors.c"
#include "world/threads/world.c"
#endif
