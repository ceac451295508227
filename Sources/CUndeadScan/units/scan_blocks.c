#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/blocks/address_index.c"
#include "scan/blocks/arenas.c"
#include "scan/blocks/free_chunks.c"
#include "scan/blocks/heap.c"
#include "scan/blocks/hidden.c"
#include "scan/blocks/isas.c"
#include "scan/blocks/worklist.c"
#endif
