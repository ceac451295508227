#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/graph/contents.c"
#include "scan/graph/graph.c"
#include "scan/graph/graph_blocks.c"
#include "scan/graph/graph_roots.c"
#include "scan/graph/graph_tables.c"
#include "scan/graph/graph_tasks.c"
#include "scan/graph/graph_together.c"
#include "scan/graph/ranks.c"
#include "scan/graph/stack_words.c"
#include "scan/graph/stream.c"
#endif
