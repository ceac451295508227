#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "record/attach/attached.c"
#include "record/attach/images_x86_64.c"
#endif
