#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/mark/mark.c"
#include "scan/mark/mark_together.c"
#include "scan/mark/pool.c"
#include "scan/mark/switched.c"
#include "scan/mark/unsure.c"
#endif
