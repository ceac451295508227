// Memory of the instrument itself: only mmap, never malloc.
#pragma once
#include <stddef.h>
#include <stdint.h>

void *undead_map(size_t bytes);                  // zeroed, NULL if there is none; not committed until touched
void *undead_map_shared(size_t bytes);           // the same, shared with forked copies
void undead_unmap(void *address, size_t bytes);

// True if `address` lies in memory obtained here: the scan must not take it for a root.
int undead_owns_memory(uintptr_t address);
