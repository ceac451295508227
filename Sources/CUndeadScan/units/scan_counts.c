#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/counts/certainty.c"
#include "scan/counts/closed.c"
#include "scan/counts/counts.c"
#include "scan/counts/outlived.c"
#include "scan/counts/tally.c"
#endif
