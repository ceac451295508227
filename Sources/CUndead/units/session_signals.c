#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/signals/action.c"
#include "session/signals/buffer_functions.c"
#include "session/signals/guard.c"
#include "session/signals/signal_functions.c"
#endif
