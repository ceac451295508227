#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/interface/census.c"
#include "session/interface/interface.c"
#include "session/interface/run_loops.c"
#endif
#include "session/interface/table.c"
#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/interface/test_library.c"
#endif
#include "session/interface/unsupported.c"
#include "session/interface/xctest.c"
