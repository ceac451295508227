#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/buffers/output.c"
#include "session/buffers/string_table.c"
#include "session/buffers/text.c"
#include "session/buffers/vector.c"
#endif
