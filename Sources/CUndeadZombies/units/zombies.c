#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "zombies/zombies.c"
#endif
