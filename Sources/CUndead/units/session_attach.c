#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/attach/attached.c"
#include "session/attach/replica.c"
#include "session/attach/replica_blocks.c"
#include "session/attach/replica_words.c"
#endif
