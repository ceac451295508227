#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "record/hooks/allocator.c"
#include "record/hooks/block_size.c"
#include "record/hooks/other_memory.c"
#include "record/hooks/scope_tags.c"
#include "record/hooks/scopes.c"
#include "record/hooks/thread_cache.c"
#include "record/hooks/hooks.c"
#include "record/hooks/other_allocator.c"
#include "record/hooks/other_functions.c"
#endif
