#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "runtime/names/async_loops.c"
#include "runtime/names/edges.c"
#include "runtime/names/elements.c"
#include "runtime/names/foreign.c"
#include "runtime/names/frames.c"
#include "runtime/names/names.c"
#include "runtime/names/owner_fields.c"
#include "runtime/names/type_names.c"
#include "runtime/names/values.c"
#endif
