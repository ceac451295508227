// glibc's malloc on 64-bit machines (malloc/malloc.c, malloc/arena.c of the tags glibc-2.26 to glibc-2.42, and of 2.43). What
// differs between versions stands here and nowhere else; which one it is shows by what fits. A name that ends with UNTIL_2_x or
// SINCE_2_x is that of a number of those versions alone; where there are both, the one without an ending is that of the others.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  // struct malloc_chunk: size of the chunk before if that is free, own size with flags, then the memory.
  CHUNK_HEADER = 16,
  CHUNK_SIZE = 8,
  CHUNK_SMALLEST = 32,
  CHUNK_PREVIOUS_IN_USE = 1,
  CHUNK_MAPPED = 2,
  CHUNK_OF_OTHER_ARENA = 4,
  CHUNK_FLAGS = _Alignof(max_align_t) - 1,   // sizes are multiples of what malloc aligns to; the hooks rely on nothing else
  CHUNK_OFFSET_MARK_SINCE_2_43 = 1,   // MMAP_HP
  FENCE_BYTES = 16,             // a chunk that only ends an area (sysmalloc)
  FENCE_MOST_BYTES = 2 * FENCE_BYTES,   // in a heap

  // struct malloc_state: mutex, flags, have_fastchunks; fast bins; top, last_remainder; two links for each bin; binmap[4];
  // next, next_free, attached_threads, system_mem. Distances are from the first bin, which is the unsorted list.
  FAST_BINS = 10,
  BINS = 127,
  BIN_BYTES = 16,
  ARENA_HEAD = 112,             // from the arena's start to the bins
  ARENA_HEAD_SINCE_2_43 = 24,   // without fast bins and have_fastchunks
  ARENA_HEAD_UNTIL_2_26 = 104,  // without have_fastchunks
  ARENA_FLAGS = 4,              // from the start
  ARENA_NOT_CONTIGUOUS = 2,
  BINS_TO_TOP = 16,             // before the bins
  BINS_TO_FAST = BINS_TO_TOP + FAST_BINS * 8,   // likewise
  BINS_TO_NEXT = BINS * BIN_BYTES + 16,
  BINS_TO_SYSTEM_MEMORY = BINS_TO_NEXT + 24,
  BINS_TO_END = BINS_TO_NEXT + 40,

  // struct _heap_info: ar_ptr, prev, size, mprotect_size; pagesize and a word for alignment since 2.35.
  HEAP_ARENA = 0,
  HEAP_PREVIOUS = 8,
  HEAP_SIZE = 16,
  HEAP_INFO = 48,
  HEAP_INFO_UNTIL_2_34 = 32,

  // struct malloc_par, from sbrk_base: the counts of mapped chunks before it, the settings of threads' caches behind it.
  PAR_MAPPED_BYTES = -16,
  PAR_MAPPED_COUNT = -36,       // before it hp_flags, an int, and so an int of padding behind
  PAR_MAPPED_COUNT_UNTIL_2_34 = -32,
  PAR_CACHE_COUNT = 24,

  // struct tcache_perthread_struct: a count for each bin (since 2.42: of what may still be put there), of 16 bits (8 before
  // 2.30), then the lists.
  CACHE_BINS = 64,              // sizes from 32 on, by 16
  CACHE_BINS_SINCE_2_42 = 76,   // 12 more, by powers of two
  CACHE_LARGE_SINCE_2_42 = 1024,   // what the first of them holds, and a little more than the last small bin
};

static inline uintptr_t undead_glibc_word(uintptr_t address) { return *(const uintptr_t *)address; }
static inline uintptr_t undead_chunk_head(uintptr_t chunk) { return undead_glibc_word(chunk + CHUNK_SIZE); }
static inline uintptr_t undead_chunk_bytes(uintptr_t chunk) { return undead_chunk_head(chunk) & ~(uintptr_t)CHUNK_FLAGS; }
// What malloc_usable_size() says of a small block.
static inline size_t undead_chunk_usable(size_t size) {
  size_t chunk = (size + CHUNK_SIZE + 15) & ~(size_t)15;
  return (chunk < CHUNK_SMALLEST ? CHUNK_SMALLEST : chunk) - CHUNK_SIZE;
}
// Links of single lists, "safe-linking" (PROTECT_PTR).
static inline uintptr_t undead_glibc_next(uintptr_t place) { return undead_glibc_word(place) ^ place >> 12; }
// Whether chunks of this size are kept in this bin of a thread's cache.
static inline bool undead_glibc_is_of_cache_bin(uintptr_t size, uintptr_t bin) {
  if (bin < CACHE_BINS) return size == CHUNK_SMALLEST + bin * 16;
  uintptr_t least = (uintptr_t)CACHE_LARGE_SINCE_2_42 << (bin - CACHE_BINS);
  return size >= least && size < least * 2;
}
