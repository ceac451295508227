#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/check/candidates.c"
#include "session/check/check.c"
#include "session/check/facts_thread.c"
#include "session/check/held_scopes.c"
#include "session/check/left_threads.c"
#include "session/check/left_work.c"
#include "session/check/recheck.c"
#include "session/check/refute.c"
#include "session/check/survivors.c"
#include "session/check/thread_backtrace.c"
#endif
