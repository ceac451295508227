#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/view/census.c"
#include "scan/view/collect.c"
#include "scan/view/holes.c"
#include "scan/view/storage.c"
#include "scan/view/view.c"
#endif
