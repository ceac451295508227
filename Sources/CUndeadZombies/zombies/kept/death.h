// Deaths that free() sees: of objects on guard pages, which are not malloc's, of those that the runtime frees by itself
// (storage of arrays and hash tables), and in programs whose Swift runtime is
// linked statically, where its functions cannot be replaced.
#pragma once
#include "record/free_filter.h"

#pragma GCC visibility push(hidden)

// Filters of free(): for objects on guard pages; for these, too, and what the runtime frees by itself; for all objects.
bool undead_zombie_filter_guarded(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);
bool undead_zombie_filter_unseen(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);
bool undead_zombie_filter_all(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);
bool undead_zombie_filter_kept(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);   // keeps those on pages for good

// In place of swift_deallocClassInstance: the object goes to the quarantine. Takes its return address for the caller's.
void undead_class_instance_died(uintptr_t object, size_t size, size_t align_mask);

#pragma GCC visibility pop
