// What each thread keeps of the small blocks that it freed (glibc's tcache), taken and given here without a call: the same
// lists in the same order, as glibc would do it, only where it was seen that they are what they are taken for.
#pragma once
#include "glibc/layout.h"
#include "record/way/hook_frame.h"

#pragma GCC visibility push(hidden)

// struct tcache_perthread_struct up to 2.41.
typedef struct {
  uint16_t counts[CACHE_BINS];
  uintptr_t entries[CACHE_BINS];
} undead_cache_table;

extern struct undead_cache_facts {
  intptr_t place;      // of the pointer to the table, from the thread pointer; where it is not known of one that is NULL
  uintptr_t key;       // the second word of what is kept
  uint16_t most_of_glibc;      // that it puts into a list
  uint16_t most[CACHE_BINS];   // that the hooks put there: what glibc finds in a list it takes, however long that is
  bool tried;          // they were looked for
} undead_cache;

// Looks for the place, once and after recording has begun, and chooses the way of the hooks anew; in a hook. Where it is not
// understood, it stays unknown.
void undead_cache_learn(void);
// From now on all is asked of glibc.
void undead_cache_forget(void);

#define UNDEAD_OF_THREAD __attribute__((address_space(257)))   // fs: is the thread pointer
UNDEAD_INLINE undead_cache_table *undead_cache_of_thread(void) {
  return *(undead_cache_table *UNDEAD_OF_THREAD *)undead_cache.place;
}

UNDEAD_INLINE size_t undead_cache_list(size_t size) { return size <= CHUNK_SMALLEST - 8 ? 0 : (size - 9) >> 4; }

// The size of all chunks in the list for `size`.
UNDEAD_INLINE size_t undead_cache_chunk(size_t size) { return (undead_cache_list(size) << 4) + CHUNK_SMALLEST; }

// A block for `size`, at most that of the last list, or NULL. Its key is still in it: it is to be cleared. The list is
// never shorter than its count, wherever a signal handler may jump away.
UNDEAD_INLINE void *undead_cache_take(size_t size) {
  undead_cache_table *table = undead_cache_of_thread();
  if (UNLIKELY(!table)) return NULL;
  size_t bin = undead_cache_list(size);
  uint16_t count = table->counts[bin];
  uintptr_t block = table->entries[bin];
  if (UNLIKELY(!count) || UNLIKELY(block & 15)) return NULL;
  __atomic_store_n(&table->counts[bin], (uint16_t)(count - 1), __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&table->entries[bin], undead_glibc_next(block), __ATOMIC_RELAXED);
  return (void *)block;
}

// False if glibc is to free the block: it is none of these sizes, the list is full, or it may be there already.
UNDEAD_INLINE bool undead_cache_give(void *block) {
  if (UNLIKELY(!block)) return false;
  uintptr_t *words = block, head = words[-1];
  size_t bin = ((head & ~(uintptr_t)CHUNK_FLAGS) - CHUNK_SMALLEST) >> 4;
  // The size first: for large blocks, nothing else is asked.
  if (UNLIKELY(bin >= CACHE_BINS) || UNLIKELY(head & (CHUNK_MAPPED | 8))) return false;
  undead_cache_table *table = undead_cache_of_thread();
  if (UNLIKELY(!table) || UNLIKELY((uintptr_t)block & 15)) return false;
  uint16_t count = table->counts[bin];
  if (UNLIKELY(count >= undead_cache.most[bin]) || UNLIKELY(words[1] == undead_cache.key)) return false;
  words[1] = undead_cache.key;
  words[0] = table->entries[bin] ^ (uintptr_t)block >> 12;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&table->entries[bin], (uintptr_t)block, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&table->counts[bin], (uint16_t)(count + 1), __ATOMIC_RELAXED);
  return true;
}

#pragma GCC visibility pop
