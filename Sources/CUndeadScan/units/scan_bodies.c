#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/bodies/body.c"
#include "scan/bodies/elements.c"
#include "scan/bodies/held.c"
#include "scan/bodies/makers.c"
#include "scan/bodies/plain.c"
#include "scan/bodies/references.c"
#endif
