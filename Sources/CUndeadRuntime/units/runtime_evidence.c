#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "runtime/evidence/buffer_use.c"
#include "runtime/evidence/enum_tags.c"
#include "runtime/evidence/evidence.c"
#include "runtime/evidence/evidence_types.c"
#include "runtime/evidence/layouts.c"
#include "runtime/evidence/named_fields.c"
#include "runtime/evidence/storage_layout.c"
#include "runtime/evidence/variables.c"
#endif
