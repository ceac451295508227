// A part that has memory of its own for some blocks is asked for it before glibc's malloc: guard pages for objects and storage.
#pragma once
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Called by malloc() and posix_memalign(), not in a hook, with the registers of their caller. NULL: glibc is to allocate.
// A block is registered by the part that hands it out, and taken back by the keeper of the free filter.
typedef void *(*undead_block_source_function)(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp);

// NULL: nobody is asked, and the hooks take their short way.
extern undead_block_source_function volatile undead_block_source;
void undead_block_source_set(undead_block_source_function source);

#pragma GCC visibility pop
