// What threads keep of what they freed (tcache). The place of the table is found where all that it lists are blocks of the right size.
#include "glibc/heap_internal.h"
#include "platform/maps/maps.h"
#include "platform/processor/processor.h"

#define MOST_LENGTH 65536u

typedef struct {
  undead_glibc_heap *heap;
  uintptr_t bins;          // lists in a table
  uintptr_t key;           // second word of all that is kept, 0: none seen yet
  uint64_t tables, kept;
  bool take;               // out of the registry
} cache_walk;

// request2size of the table, and what a chunk may have more.
static bool is_chunk_of_table(uintptr_t chunk, uintptr_t bins) {
  uintptr_t least = (bins * 10 + 8 + 15) & ~(uintptr_t)15, size = undead_chunk_bytes(chunk);
  return size >= least && size <= least + 32;
}

static bool take(undead_glibc_heap *heap, uintptr_t block) {
  undead_glibc_forget(block);
  return undead_glibc_add_kept(heap, block);
}

// The length of a list, or -1 if it is none.
static int64_t walk_list(cache_walk *walk, uintptr_t block, uintptr_t bin) {
  int64_t length = 0;
  for (; block; block = undead_glibc_next(block), length++) {
    if (length == MOST_LENGTH || !undead_glibc_is_block(block)) return -1;
    if (!undead_glibc_is_of_cache_bin(undead_chunk_bytes(block - CHUNK_HEADER), bin)) return -1;
    uintptr_t key = undead_glibc_word(block + 8);
    if (!walk->key) walk->key = key;
    if (!key || key != walk->key) return -1;
    if (walk->take && !take(walk->heap, block)) return -1;
  }
  return length;
}

// Up to 2.41 the table counts what each list has; since then what may be added, which is the same number together for all. A thread
// that stands between the change of a list and that of its count is off by one.
static bool walk_table(cache_walk *walk, uintptr_t table) {
  const uint16_t *counts = (const uint16_t *)table;
  int64_t together = -1, off = 0;
  for (uintptr_t bin = 0; bin < walk->bins; bin++) {
    int64_t length = walk_list(walk, undead_glibc_word(table + walk->bins * 2 + bin * 8), bin);
    if (length < 0) return false;
    int64_t difference = walk->bins == CACHE_BINS ? length - counts[bin] : length + counts[bin] - together;
    if (walk->bins != CACHE_BINS && together < 0) {
      together = length + counts[bin];
      difference = 0;
    }
    off += difference < 0 ? -difference : difference;
    walk->kept += (uint64_t)length;
  }
  if (walk->take && !take(walk->heap, table)) return false;
  walk->tables++;
  return off <= 1;
}

static bool walk_place(cache_walk *walk, size_t place) {
  const undead_glibc_heap *heap = walk->heap;
  for (uint32_t i = 0; i < heap->thread_count; i++) {
    uintptr_t at = undead_thread_variable(heap->threads[i], place);
    if (!undead_is_readable(at, 8)) continue;
    uintptr_t table = undead_glibc_word(at);
    // A thread without a table has none, or since 2.43 the one in libc's data.
    if (!table || (table >= heap->data.low && table < heap->data.high)) continue;
    if (!undead_glibc_is_block(table) || !is_chunk_of_table(table - CHUNK_HEADER, walk->bins)) return false;
    if (!walk_table(walk, table)) return false;
  }
  return walk->tables > 0;
}

// Of several places that look so the one with the most: what else does is empty.
static cache_walk find_place(undead_glibc_heap *heap, size_t *best_place) {
  static const uintptr_t bins[] = {CACHE_BINS, CACHE_BINS_SINCE_2_42};
  cache_walk best = {0};
  for (size_t place = heap->storage_near + 8; place <= heap->storage_far; place += 8)
    for (int i = 0; i < 2; i++) {
      cache_walk walk = {.heap = heap, .bins = bins[i]};
      if (!walk_place(&walk, place) || walk.kept + walk.tables <= best.kept + best.tables) continue;
      best = walk;
      *best_place = place;
    }
  return best;
}

undead_glibc_result undead_glibc_take_caches(undead_glibc_heap *heap, uintptr_t settings) {
  size_t place = 0;
  cache_walk best = find_place(heap, &place);
  if (!best.tables && undead_glibc_word(settings + PAR_CACHE_COUNT) == 0) return UNDEAD_GLIBC_OK;
  // What keeps blocks may do so.
  if (!best.tables || (best.kept && undead_glibc_word(settings + PAR_CACHE_COUNT) == 0))
    return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "where threads keep what they freed was not found", settings);
  cache_walk walk = {.heap = heap, .bins = best.bins, .take = true};
  if (!walk_place(&walk, place))
    return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "a block is kept by two threads", place);
  heap->caches = (uint32_t)walk.tables;
  heap->cached = walk.kept;
  heap->blocks -= walk.kept + walk.tables;
  return UNDEAD_GLIBC_OK;
}
