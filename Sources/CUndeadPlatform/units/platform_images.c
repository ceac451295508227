#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "platform/images/c_library.c"
#include "platform/images/exports.c"
#include "platform/images/files.c"
#include "platform/images/image_pages.c"
#include "platform/images/imports.c"
#include "platform/images/modules.c"
#include "platform/images/symbols.c"
#endif
