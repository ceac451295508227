// Deaths that free() sees: of objects on guard pages, which are not malloc's, and in programs whose Swift runtime is
// linked statically, where its functions cannot be replaced.
#pragma once
#include "record/free_filter.h"

#pragma GCC visibility push(hidden)

// Filters of free(): the second one for both.
bool undead_zombie_filter_kept(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);   // keeps those for good
bool undead_zombie_filter_guarded(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);
bool undead_zombie_filter_all(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);

#pragma GCC visibility pop
