// Whoever wants to keep blocks that the program frees, or gave it memory that is not malloc's, looks at them first.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Called by free(), not in a hook, with the registers of its caller. True if the block is not to be freed, or has been.
typedef bool (*undead_free_filter_function)(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);

// NULL: nobody does.
extern undead_free_filter_function volatile undead_free_filter;

#pragma GCC visibility pop
