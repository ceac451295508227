#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "zombies/catch/caught_copy_x86_64.c"
#include "zombies/catch/stubs_x86_64.c"
#include "zombies/catch/unowned_field.c"
#include "zombies/catch/watching_x86_64.c"
#include "zombies/catch/catch.c"
#include "zombies/catch/escape.c"
#include "zombies/catch/fault.c"
#include "zombies/catch/pool_fault.c"
#endif
