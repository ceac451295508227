// What another allocator than glibc's has mapped: its blocks, what is free between them, and what it keeps its books in.
// Nothing but recorded blocks, and the few that are known but not recorded, belongs to the program there.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Pages that the allocator has mapped, or gives back. Any thread; no lock.
void undead_other_memory_add(uintptr_t low, size_t bytes);
void undead_other_memory_remove(uintptr_t low, size_t bytes);

// True if the page of `address` is the allocator's.
bool undead_other_memory_holds(uintptr_t address);

// Blocks that are in use, but not recorded: those of the tool's own threads. False if it was none.
void undead_other_memory_note(uintptr_t block);
bool undead_other_memory_forget(uintptr_t block);
typedef void (*undead_other_visitor)(void *context, uintptr_t block);
void undead_other_memory_each(undead_other_visitor visit, void *context);

// There are blocks of which nothing is known.
void undead_other_memory_has_gaps(void);
// The allocator's own variables, which name free memory.
void undead_other_memory_set_image(const void *base);
bool undead_other_memory_image(size_t index, uintptr_t *low, uintptr_t *high);

// True if all blocks are known: then what lies between them belongs to no block.
bool undead_other_memory_is_known(void);
// Mappings and their ends are seen from now on.
void undead_other_memory_is_traced(void);

#pragma GCC visibility pop
