#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "zombies/classes/metadata.c"
#include "zombies/classes/premises.c"
#include "zombies/classes/type_lists.c"
#include "zombies/classes/zombie_class.c"
#endif
