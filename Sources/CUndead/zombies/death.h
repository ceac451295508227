// Deaths that free() sees, in programs whose Swift runtime is linked statically: its functions cannot be replaced there.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern volatile bool undead_zombie_watches_free;

// Called by free() with the caller's registers, for a block of at least 16 bytes. True if it was a Swift object, and is
// in the quarantine now.
bool undead_zombie_is_freed(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);

#pragma GCC visibility pop
