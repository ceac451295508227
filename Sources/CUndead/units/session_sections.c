#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/sections/census_section.c"
#include "session/sections/facts.c"
#include "session/sections/heap_malloc.c"
#include "session/sections/heap_memory.c"
#include "session/sections/heap_sections.c"
#include "session/sections/refuted_section.c"
#include "session/sections/samples.c"
#include "session/sections/snapshot_facts.c"
#include "session/sections/snapshot_sections.c"
#include "session/sections/snapshot_tables.c"
#endif
