// How large a block of glibc's is, and how a new one is cleared. Inline: the hooks do this at each allocation.
#pragma once
#include "glibc/layout.h"
#include "record/way/hook_frame.h"

#define LARGEST_CACHED_BLOCK 1032u   // beyond, malloc takes the same way as calloc, which knows fresh memory
#define LARGEST_CLEARED_TAIL (1u << 20)
#define LARGEST_CLEARED_AT_ONCE 96u  // chunk sizes: up to here without a branch,
#define LARGEST_CLEARED_INLINE 256u  // and up to here a loop is faster than a call of memset
typedef uint64_t __attribute__((may_alias)) eight_bytes;
typedef uint64_t __attribute__((may_alias, vector_size(16))) sixteen_bytes;

UNDEAD_INLINE size_t usable_size(const void *block) { return (((const size_t *)block)[-1] & ~(size_t)CHUNK_FLAGS) - CHUNK_SIZE; }

// What malloc makes of the size for a small block. A larger one may get more: its chunk shows.
UNDEAD_INLINE size_t sampled_size(const void *block, size_t size) {
  if (UNLIKELY(size > LARGEST_CACHED_BLOCK)) return usable_size(block);
  size_t usable = ((size + 23) & ~(size_t)15) - 8;
  return usable < 24 ? 24 : usable;
}

// New blocks are cleared, to their last usable byte: what the memory held before would look like references out of
// whatever its new owner leaves unused (capacity, padding, free slots), and hide leaks in one run and not in the next.
UNDEAD_INLINE void clear(void *block, size_t from) {
  // The kernel has cleared what has a mapping of its own.
  if (UNLIKELY(((const size_t *)block)[-1] & CHUNK_MAPPED)) return;
  size_t size = usable_size(block);
  if (LIKELY(size > from) && LIKELY(size - from <= LARGEST_CLEARED_TAIL))
    __builtin_memset((char *)block + from, 0, size - from);
}

// Up to LARGEST_CLEARED_INLINE.
UNDEAD_INLINE void clear_small(void *block, size_t chunk) {
  const sixteen_bytes zero = {0};
  char *at = block;
  // Chunks are 16-aligned, and the last 8 bytes of a block are in the next chunk.
  if (LIKELY(chunk <= LARGEST_CLEARED_AT_ONCE)) {
    // Sizes come in no order: a branch for each would be mispredicted. The stores overlap instead.
    size_t last = chunk - 32, third = last < 32 ? last : 32;
    *(sixteen_bytes *)at = zero;
    *(sixteen_bytes *)(at + (last < 16 ? last : 16)) = zero;
    *(sixteen_bytes *)(at + third) = zero;
    *(sixteen_bytes *)(at + (last < 48 ? last : 48)) = zero;
    *(sixteen_bytes *)(at + last) = zero;
    *(eight_bytes *)(at + last + 16) = 0;
  } else {
    for (char *end = at + chunk - 16; at < end; at += 16) *(sixteen_bytes *)at = zero;
    *(eight_bytes *)at = 0;
  }
}

UNDEAD_INLINE void clear_new(void *block) {
  size_t chunk = ((const size_t *)block)[-1] & ~(size_t)CHUNK_FLAGS;
  if (LIKELY(chunk <= LARGEST_CLEARED_INLINE)) clear_small(block, chunk);
  else clear(block, 0);
}

// Only what every block has, and what would make it look like the dead object that was there: its class and its counts. To
// clear all of it costs twice as much as the rest of the hook; stale words may hide a leak, but never invent one.
UNDEAD_INLINE void clear_start(void *block) {
  *(sixteen_bytes *)block = (sixteen_bytes){0};
  *(eight_bytes *)((char *)block + 16) = 0;
}
