#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/life/exec.c"
#include "session/life/exit.c"
#include "session/life/generations.c"
#include "session/life/libc_start.c"
#include "session/life/main_call.c"
#include "session/life/signals.c"
#include "session/life/sniffer.c"
#include "session/life/spawn.c"
#include "session/life/start.c"
#include "session/life/stubs_x86_64.c"
#endif
