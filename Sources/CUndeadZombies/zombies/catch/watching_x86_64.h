// The functions that watch for zombies, for undead_swift_functions_watch.
#pragma once
#include "zombies/functions/functions.h"

#pragma GCC visibility push(hidden)

// By the index of the function; 0 for allocation, which is only called from here (object_source.c).
extern const uintptr_t undead_swift_watching[UNDEAD_SWIFT_FUNCTION_COUNT];

// Those that tell everything; 0 for functions that neither retain nor release.
extern const uintptr_t undead_swift_watching_closely[UNDEAD_SWIFT_FUNCTION_COUNT];

// The one for swift_release_n: its releases are made one by one.
void undead_watching_each_release(void *object, uint32_t count);

extern const undead_watching_functions undead_watching;

// The one that the code at `pc` belongs to, and how far above the stack pointer its return address is; UNDEAD_SWIFT_FUNCTION_COUNT if it
// belongs to none.
undead_swift_function undead_watching_function_at(uintptr_t pc, uint32_t *depth);

#pragma GCC visibility pop
