#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "runtime/metadata/classify.c"
#include "runtime/metadata/descriptors.c"
#include "runtime/metadata/fields.c"
#include "runtime/metadata/identifiers.c"
#include "runtime/metadata/noncopyable.c"
#include "runtime/metadata/runtime.c"
#include "runtime/metadata/simple_names.c"
#include "runtime/metadata/types.c"
#endif
