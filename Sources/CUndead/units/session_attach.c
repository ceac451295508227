#include "session/attach/attached.c"
#include "session/attach/replica.c"
#include "session/attach/replica_blocks.c"
#include "session/attach/replica_words.c"
