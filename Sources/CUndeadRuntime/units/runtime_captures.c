#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "runtime/captures/capture_form.c"
#include "runtime/captures/captures.c"
#include "runtime/captures/pack_captures.c"
#include "runtime/captures/variants.c"
#include "runtime/captures/weak_captures.c"
#endif
