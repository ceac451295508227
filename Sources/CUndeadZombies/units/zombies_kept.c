#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "zombies/kept/closed_pages.c"
#include "zombies/kept/chosen.c"
#include "zombies/kept/death.c"
#include "zombies/kept/guard_pages.c"
#include "zombies/kept/object_source.c"
#include "zombies/kept/pool.c"
#include "zombies/kept/quarantine.c"
#include "zombies/kept/quarantine_find.c"
#include "zombies/kept/ring.c"
#endif
