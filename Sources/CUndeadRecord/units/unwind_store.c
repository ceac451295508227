#include "unwind/store/settings.c"
#include "unwind/store/stack.c"
#include "unwind/store/store.c"
