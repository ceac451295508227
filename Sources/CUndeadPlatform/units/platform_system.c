#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "platform/system/copy_memory.c"
#include "platform/system/environment.c"
#include "platform/system/own_file.c"
#include "platform/system/process_id.c"
#include "platform/system/read_text.c"
#include "platform/system/rest_of_time.c"
#include "platform/system/seccomp.c"
#include "platform/system/system_calls.c"
#include "platform/system/text.c"
#include "platform/system/thread_slots.c"
#include "platform/system/time_limit.c"
#endif
