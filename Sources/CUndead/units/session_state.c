#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/state/interpose.c"
#include "session/state/process.c"
#include "session/state/settings.c"
#include "session/state/stand_aside.c"
#include "session/state/state_file.c"
#include "session/state/swift_presence.c"
#endif
