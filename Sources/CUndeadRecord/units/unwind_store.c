#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "unwind/store/settings.c"
#include "unwind/store/stack.c"
#include "unwind/store/store.c"
#endif
