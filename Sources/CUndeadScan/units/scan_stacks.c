#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/stacks/borrowed.c"
#include "scan/stacks/contexts.c"
#include "scan/stacks/dead_stacks.c"
#include "scan/stacks/quiet.c"
#include "scan/stacks/stacks.c"
#include "scan/stacks/stale.c"
#endif
