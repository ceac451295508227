// Whether this process runs Swift code, found cheaply at its start.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// True if the runtime's library is loaded, or the executable contains Swift code (as with -static-stdlib). A runtime
// that is loaded later is found by the scan. Without malloc.
bool undead_swift_is_present(void);

#pragma GCC visibility pop
