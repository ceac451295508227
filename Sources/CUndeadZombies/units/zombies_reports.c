#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "zombies/reports/log.c"
#include "zombies/reports/log_modules.c"
#include "zombies/reports/counters.c"
#include "zombies/reports/report.c"
#include "zombies/reports/sites.c"
#include "zombies/reports/waiting.c"
#endif
