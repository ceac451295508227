// The allocator that the hooks stand in front of: glibc's, or another one that the program brings (jemalloc, mimalloc,
// tcmalloc), linked or preloaded behind this library.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  void *(*malloc)(size_t size);
  void *(*calloc)(size_t count, size_t size);
  void *(*realloc)(void *block, size_t size);
  void *(*memalign)(size_t alignment, size_t size);
  int (*posix_memalign)(void **result, size_t alignment, size_t size);
  void *(*aligned_alloc)(size_t alignment, size_t size);
  void (*free)(void *block);
  size_t (*usable_size)(void *block);
} undead_allocator;

// Only to be used where undead_allocator_is_other() is true.
extern undead_allocator undead_next;

// Not 0 as long as it is not known whether the allocator is glibc's, and where it is not: the hooks then go another way.
extern int32_t undead_allocator_detour;

// Finds the allocator if that has not been done. Does not allocate; from the first allocation on. It saves the registers
// itself: the hooks, which seldom call it, then need not.
__attribute__((preserve_most)) bool undead_allocator_is_other(void);

// Where glibc keeps the lists of what a thread freed, as the hooks found it: so far below the thread pointer stands the
// address of their table, and so far in that begin the lists. False if that is not known.
bool undead_allocator_lists(size_t *place, size_t *lists);

// A block of glibc's without a word to the registry, or NULL.
void *undead_allocator_take(size_t size);
// Frees without a word to the registry; for the owner of the block.
void undead_allocator_free(void *block);
// The same in a hook that interrupted no other one: into the thread's own list, as free() does it.
void undead_allocator_give(void *block);

// Why blocks of the other allocator cannot be recorded, or NULL. Also NULL for glibc's.
const char *undead_allocator_refusal(void);

// The file of the other allocator; "" for glibc's.
const char *undead_allocator_name(void);

// What is not seen of the other allocator's work, so that all of its memory counts as somebody's, or NULL.
const char *undead_allocator_gap(void);

// Libraries that were loaded since the last call are bound to the recorder, too. Not with the world stopped.
void undead_allocator_refresh(void);

#pragma GCC visibility pop
