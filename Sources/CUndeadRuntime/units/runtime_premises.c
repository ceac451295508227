#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "runtime/premises/premises.c"
#include "runtime/premises/premises_contexts.c"
#include "runtime/premises/premises_foundation.c"
#include "runtime/premises/premises_known.c"
#include "runtime/premises/premises_names.c"
#include "runtime/premises/premises_objects.c"
#include "runtime/premises/premises_storage.c"
#include "runtime/premises/premises_tasks.c"
#include "runtime/premises/premises_types.c"
#endif
