#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/suspects/dead_owners.c"
#include "scan/suspects/framework_edges.c"
#include "scan/suspects/idle_words.c"
#include "scan/suspects/loop_items.c"
#include "scan/suspects/sources.c"
#include "scan/suspects/suspect_graph.c"
#include "scan/suspects/suspect_handlers.c"
#include "scan/suspects/suspect_owners.c"
#include "scan/suspects/suspects.c"
#endif
