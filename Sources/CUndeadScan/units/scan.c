#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/analysis.c"
#include "scan/findings.c"
#include "scan/scan.c"
#endif
