#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "world/helper/clone.c"
#include "world/helper/crash.c"
#include "world/helper/crew.c"
#include "world/helper/descriptors.c"
#include "world/helper/helper.c"
#include "world/helper/in_place.c"
#endif
