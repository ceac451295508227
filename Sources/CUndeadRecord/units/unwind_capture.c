#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "unwind/capture/async_callers.c"
#include "unwind/capture/backtrace.c"
#include "unwind/capture/cache_pool.c"
#include "unwind/capture/capture_x86_64.c"
#include "unwind/capture/chain_x86_64.c"
#include "unwind/capture/memo_x86_64.c"
#include "unwind/capture/odd_x86_64.c"
#include "unwind/capture/room_x86_64.c"
#include "unwind/capture/site_x86_64.c"
#include "unwind/capture/walk_x86_64.c"
#endif
