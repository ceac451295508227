#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "platform/memory/boundaries.c"
#include "platform/memory/index_map.c"
#include "platform/memory/memory.c"
#include "platform/memory/own_data.c"
#include "platform/memory/readable.c"
#include "platform/memory/reserve.c"
#include "platform/memory/sort.c"
#include "platform/memory/thread_state.c"
#endif
