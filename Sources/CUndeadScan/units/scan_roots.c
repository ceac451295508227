#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/roots/copies.c"
#include "scan/roots/gather.c"
#include "scan/roots/kernel_held.c"
#include "scan/roots/numbers.c"
#include "scan/roots/pages.c"
#include "scan/roots/roots.c"
#endif
