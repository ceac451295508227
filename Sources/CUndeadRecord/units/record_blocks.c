#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "record/blocks/avoid.c"
#include "record/blocks/generations.c"
#include "record/blocks/recent.c"
#include "record/blocks/registry.c"
#include "record/blocks/sample_table.c"
#include "record/blocks/sparse.c"
#include "record/blocks/sparse_bytes.c"
#include "record/blocks/claims.c"
#endif
