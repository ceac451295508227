// What the code after a call will call next.
#pragma once
#include <stdint.h>

typedef enum {
  UNDEAD_NEXT_UNKNOWN = 0,
  UNDEAD_NEXT_MESSAGE,   // an indirect call after the class of the object in r13 was loaded: a message to it
  UNDEAD_NEXT_FUNCTION,  // a direct call
} undead_next_call;

// Looks at the straight-line code at `address`, which is about to run. Sets `*target` for a direct call, through the
// procedure linkage table to the function itself. Async-signal-safe.
undead_next_call undead_find_next_call(uintptr_t address, uintptr_t *target);
