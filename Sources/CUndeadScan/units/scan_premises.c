#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/premises/premises.c"
#include "scan/premises/premises_allocator.c"
#include "scan/premises/premises_dispatch.c"
#endif
