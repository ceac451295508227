// The lists of free chunks that arenas have: bins, and fast bins up to glibc 2.42.
#include "glibc/heap_internal.h"

// Bins are rings; their chunks are free for their neighbours, too.
static bool take_bin(uintptr_t bin, uint64_t *left) {
  uintptr_t self = bin - CHUNK_HEADER, before = self, chunk = undead_glibc_word(bin);
  for (; chunk != self; before = chunk, chunk = undead_glibc_word(chunk + CHUNK_HEADER)) {
    if (!undead_glibc_is_free(chunk + CHUNK_HEADER)) return false;
    if (undead_glibc_word(chunk + CHUNK_HEADER + 8) != before) return false;
    undead_glibc_forget(chunk + CHUNK_HEADER);
    --*left;
  }
  return true;
}

// Chunks in fast bins are in use for their neighbours.
static bool take_fast_bin(undead_glibc_heap *heap, uintptr_t chunk, uintptr_t size) {
  while (chunk) {
    uintptr_t block = chunk + CHUNK_HEADER;
    if (!undead_glibc_is_block(block) || undead_chunk_bytes(chunk) != size) return false;
    undead_glibc_forget(block);
    heap->blocks--;
    heap->free_chunks++;
    chunk = undead_glibc_next(block);
  }
  return true;
}

undead_glibc_result undead_glibc_take_lists(undead_glibc_heap *heap, const undead_arena *arena, uint64_t *left) {
  for (uintptr_t i = 0; i < BINS; i++)
    if (!take_bin(arena->bins + i * BIN_BYTES, left))
      return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "a list of malloc's has what is not free", arena->bins + i * BIN_BYTES);
  bool has_fast_bins = arena->bins - arena->start == ARENA_HEAD;
  for (uintptr_t i = 0; has_fast_bins && i < FAST_BINS; i++) {
    uintptr_t bin = arena->bins - BINS_TO_FAST + i * 8;
    if (!take_fast_bin(heap, undead_glibc_word(bin), CHUNK_SMALLEST + i * 16))
      return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "a fast bin of malloc's has what is not free", bin);
  }
  return UNDEAD_GLIBC_OK;
}
