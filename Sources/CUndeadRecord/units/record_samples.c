#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "record/samples/sample.c"
#include "record/samples/sample_governor.c"
#include "record/samples/sample_lock.c"
#include "record/samples/sample_stacks.c"
#endif
