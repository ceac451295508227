#include "glibc/heap.h"
#include "glibc/heap_internal.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include <string.h>

static undead_glibc_heap *found;

const undead_glibc_heap *undead_glibc_found(void) { return found; }

static undead_glibc_result take_arena(undead_glibc_heap *heap, uintptr_t start, uintptr_t head, bool main) {
  undead_arena arena = {start + head, start, undead_glibc_word(start + head - BINS_TO_TOP), main};
  bool locked = *(const int32_t *)start != 0;
  heap->arenas++;
  // A main arena that nothing was asked of begins with its own bins as top.
  if (main && undead_glibc_word(arena.bins + BINS_TO_SYSTEM_MEMORY) == 0) return UNDEAD_GLIBC_OK;
  uint64_t free_before = heap->free_chunks;
  undead_glibc_result result = main ? undead_glibc_take_main(heap, &arena) : undead_glibc_take_heaps(heap, &arena);
  if (result != UNDEAD_GLIBC_OK) return result;
  uint64_t left = heap->free_chunks - free_before;
  result = undead_glibc_take_lists(heap, &arena, &left);
  // What somebody had just taken from a list, or not put into one yet, is free for its neighbours: nobody has it.
  if (result != UNDEAD_GLIBC_OK || !left || (locked && heap->ended)) return result;
  return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "free memory of malloc's stands in none of its lists", start);
}

static undead_glibc_result find(undead_glibc_heap *heap) {
  undead_glibc_ring ring;
  bool found_ring = undead_glibc_find_ring(heap->data, &ring) && ring.head != ARENA_HEAD_UNTIL_2_26;
  uintptr_t head = ring.head, bins = ring.main_bins, settings = 0;
  if (!found_ring) return undead_glibc_fail(heap, UNDEAD_GLIBC_UNKNOWN, "no arena of glibc's malloc was found", heap->data.low);
  uintptr_t main = bins - head, start = main;
  heap->without_fast_bins = head == ARENA_HEAD_SINCE_2_43;
  do {
    heap->locked |= *(const int32_t *)start != 0;
    start = undead_glibc_word(start + head + BINS_TO_NEXT);
  } while (start != main);
  do {
    undead_glibc_result result = take_arena(heap, start, head, start == main);
    if (result != UNDEAD_GLIBC_OK) return result;
    if (start == main) heap->main_areas = heap->area_count;
    start = undead_glibc_word(start + head + BINS_TO_NEXT);
  } while (start != main);
  undead_glibc_result result = undead_glibc_take_mapped(heap, &settings);
  if (result == UNDEAD_GLIBC_OK) result = undead_glibc_take_caches(heap, settings);
  if (result == UNDEAD_GLIBC_OK && !undead_glibc_add_area(heap, main, bins + BINS_TO_END)) result = UNDEAD_GLIBC_NO_MEMORY;
  if (result == UNDEAD_GLIBC_OK && undead_registry_dropped()) result = UNDEAD_GLIBC_NO_MEMORY;
  if (result != UNDEAD_GLIBC_OK) return result;
  undead_registry_keep_seen();
  found = heap;
  return result;
}

// A thread that has locked an arena changes it, but seldom stands where its tables do not agree: then they show all but the
// one block that it gets or gives back, which its registers and stack name.
undead_glibc_result undead_glibc_find(undead_glibc_heap *heap) {
  undead_glibc_result result = find(heap);
  return result == UNDEAD_GLIBC_UNSETTLED && heap->locked ? UNDEAD_GLIBC_LOCKED : result;
}

static bool unsee(void *unused, uintptr_t block, uint32_t *word) {
  (void)unused, (void)block;
  *word = *word == UNDEAD_GLIBC_FREE ? 0 : *word & ~UNDEAD_WORD_MARK;
  return true;
}

void undead_glibc_start_again(undead_glibc_heap *heap) {
  undead_registry_each(unsee, NULL);
  heap->locked = false;
  heap->area_count = heap->kept_count = heap->arenas = heap->heaps = heap->mapped = heap->caches = 0;
  heap->blocks = heap->free_chunks = heap->cached = 0;
}
