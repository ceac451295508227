#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "zombies/functions/entries_x86_64.c"
#include "zombies/functions/functions.c"
#endif
