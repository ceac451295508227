#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "record/way/abandoned.c"
#include "record/way/block_source.c"
#include "record/way/free_filter.c"
#include "record/way/reach.c"
#include "record/way/stacks_wanted.c"
#include "record/way/way.c"
#include "record/way/gate.c"
#endif
