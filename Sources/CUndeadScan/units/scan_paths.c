#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/paths/decide.c"
#include "scan/paths/edges.c"
#include "scan/paths/owners.c"
#include "scan/paths/paths.c"
#endif
