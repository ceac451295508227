// The continuations that sources of libdispatch call: what the memory of a source names in these places certainly is one, where no
// backtrace says who made it.
#pragma once
#include "scan/suspects/suspects.h"

// After the first pass: has the bodies know them. False without memory.
bool undead_suspect_handlers_find(undead_suspects *suspects);
void undead_suspect_handlers_close(undead_suspects *suspects);
