#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "record/mode/forget.c"
#include "record/mode/in_copy.c"
#include "record/mode/task_memory.c"
#include "record/mode/mode.c"
#endif
