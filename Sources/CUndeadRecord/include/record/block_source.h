// A part that has memory of its own for some blocks is asked for it before glibc's malloc: guard pages for objects and storage.
//
// Another part may choose blocks at random, for a pool: each thread counts down to the next one, and that is all that the others
// cost. free() knows a block of the pool by its address, where the block is not what it is taken for at first: without recording
// by its leaf of the registry, which must be there; with recording by its chunk, which looks like a mapping of its own.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Called by malloc() and posix_memalign(), not in a hook, with the registers of their caller. NULL: glibc is to allocate.
// A block is registered by the part that hands it out, and taken back by the keeper of the free filter.
typedef void *(*undead_block_source_function)(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp);

// NULL: nobody is asked, and the hooks take their short way.
extern undead_block_source_function volatile undead_block_source;
void undead_block_source_set(undead_block_source_function source);

typedef struct {
  uintptr_t low;    // where the pool lies: from then on always
  size_t bytes;     // 0: there is none
  // Called by malloc() and posix_memalign() when the thread's count has run out, not in a hook: draws the next one. NULL: glibc
  // is to allocate. The caller registers the block.
  undead_block_source_function choose;
  // Called in a hook for a block that free() takes out of the registry. Returns one of glibc's to be freed in its place, or NULL.
  void *(*take_back)(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);
} undead_block_pool;
extern undead_block_pool undead_chosen_blocks;
extern bool undead_blocks_are_chosen;

// Blocks are chosen from now on, or no more. The pool stays.
void undead_block_choice_set(bool on);
// The number of blocks until one is chosen that has the chance 1 / `one_in`; begins the thread's random numbers.
int64_t undead_block_choice_draw(uint32_t one_in);

static inline __attribute__((always_inline)) bool undead_block_is_chosen(const void *block) {
  return __builtin_expect((uintptr_t)block - undead_chosen_blocks.low < undead_chosen_blocks.bytes, 0);
}

#pragma GCC visibility pop
