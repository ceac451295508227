#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/stacks/alternate_stack.c"
#include "session/stacks/calls.c"
#include "session/stacks/interrupted.c"
#include "session/stacks/task_memory.c"
#include "session/stacks/backtraces.c"
#endif
