// The free chunks of glibc's arenas, as bits for each leaf of the registry, and the tops of the arenas. Filled by arenas.c.
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "scan/blocks/arenas_internal.h"

#define LEAF_BITS_BYTES (UNDEAD_LEAF_GRANULES / 8)
#define POOL_LEAVES 64u
#define POOL_BYTES (POOL_LEAVES * LEAF_BITS_BYTES)
#define MOST_TOPS (sizeof ((undead_free_chunks *)0)->tops / sizeof(uintptr_t))

bool undead_is_chunk(const undead_heap *heap, uintptr_t chunk) {
  if (chunk % 16 || chunk >> UNDEAD_ADDRESS_BITS || !undead_is_readable(chunk, CHUNK_SMALLEST)) return false;
  uintptr_t size = undead_chunk_bytes(chunk);
  if (size < CHUNK_SMALLEST || size % 16 || undead_chunk_head(chunk) & CHUNK_MAPPED) return false;
  return undead_is_readable(chunk, size) && !undead_heap_starts(heap, chunk + CHUNK_HEADER);
}

static uint64_t *leaf_bits(undead_free_chunks *free, uintptr_t leaf) {
  if (free->bits[leaf]) return free->bits[leaf];
  if (!free->pool_left) {
    if (free->pool_count == sizeof free->pools / sizeof *free->pools) return NULL;
    if (!(free->pool = undead_map(POOL_BYTES))) return NULL;
    free->pools[free->pool_count++] = free->pool;
    free->pool_left = POOL_LEAVES;
  }
  free->bits[leaf] = (uint64_t *)free->pool;
  free->pool += LEAF_BITS_BYTES;
  free->pool_left--;
  return free->bits[leaf];
}

bool undead_note_free_chunk(undead_free_chunks *free, uintptr_t chunk) {
  uintptr_t address = chunk + CHUNK_HEADER, granule = address >> 4 & (UNDEAD_LEAF_GRANULES - 1);
  uint64_t *bits = leaf_bits(free, address >> UNDEAD_LEAF_SHIFT);
  if (!bits) free->no_memory = true;
  if (!bits || bits[granule / 64] >> granule % 64 & 1) return false;
  bits[granule / 64] |= 1ull << granule % 64;
  return true;
}

void undead_note_top(undead_free_chunks *free, uintptr_t chunk) {
  if (free->top_count < MOST_TOPS) free->tops[free->top_count] = chunk;
  free->top_count++;
}

static bool may_be_top(const undead_free_chunks *free, uintptr_t chunk) {
  if (free->top_count > MOST_TOPS) return true;
  for (uint32_t i = 0; i < free->top_count; i++)
    if (free->tops[i] == chunk) return true;
  return false;
}

uintptr_t undead_free_chunk_end(const undead_free_chunks *free, uintptr_t address) {
  const uint64_t *bits = free->bits[address >> UNDEAD_LEAF_SHIFT];
  uintptr_t granule = address >> 4 & (UNDEAD_LEAF_GRANULES - 1);
  if (!bits || !(bits[granule / 64] >> granule % 64 & 1)) return 0;
  uintptr_t chunk = address - CHUNK_HEADER, chunk_end = chunk + undead_chunk_bytes(chunk);
  // The header of the next chunk belongs to malloc, too: its first word was the last one of this chunk's memory. Behind
  // the last chunk of a heap, which ends with a page, may be what is somebody else's.
  return chunk_end % 4096 == 0 && may_be_top(free, chunk) ? chunk_end : chunk_end + CHUNK_HEADER;
}

bool undead_free_chunks_in(const undead_free_chunks *free, uintptr_t page) {
  const uint64_t *bits = free->bits[page >> UNDEAD_LEAF_SHIFT];
  if (!bits) return false;
  bits += (page >> 4 & (UNDEAD_LEAF_GRANULES - 1)) / 64;
  return bits[0] | bits[1] | bits[2] | bits[3];
}

void undead_free_chunks_close(undead_free_chunks *free) {
  for (uint32_t i = 0; i < free->pool_count; i++) undead_unmap(free->pools[i], POOL_BYTES);
  if (free->bits) undead_unmap(free->bits, UNDEAD_FREE_TABLE_BYTES);
  *free = (undead_free_chunks){0};
}
