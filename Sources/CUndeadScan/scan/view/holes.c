#include "scan/view/holes.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"
#include "scan/roots/pages.h"
#include "world/proc_ids.h"

#define LEAST_HOLE (64u << 10)   // a smaller one is read sooner than it is found
#define FIRST_HOLES 256u
#define MOST_HOLES (1u << 16)

typedef struct {
  undead_heap *heap;
  uintptr_t at;      // behind the last page that is there
  bool begun;        // a page was there
} hole_search;

static bool make_room(undead_heap *heap) {
  if (heap->hole_count < heap->hole_capacity) return true;
  return heap->hole_capacity < MOST_HOLES && undead_grow(heap->holes, heap->hole_capacity, FIRST_HOLES);
}

static void add_hole(hole_search *search, uintptr_t high) {
  if (high < search->at + LEAST_HOLE || !make_room(search->heap)) return;
  search->heap->holes[search->heap->hole_count++] = (undead_hole){search->at, high};
}

static void end_hole(void *context, const undead_mapping *mapping, undead_interval run) {
  (void)mapping;
  hole_search *search = context;
  // malloc has written to the first page: who does not know that knows of no page.
  if (!search->begun && run.low > search->at) return;
  search->begun = true;
  add_hole(search, run.low);
  search->at = run.high;
}

// Of private memory without a file a page that is in no table is zero, and not swapped out.
static void find_in_block(undead_heap *heap, undead_pages *pages, uintptr_t block) {
  const undead_mapping *mapping = undead_mapping_of(block);
  uintptr_t end = block + undead_heap_block_size(heap, block);
  if (!mapping || mapping->shared || mapping->what != UNDEAD_MAPPED_NOTHING || !mapping->readable || end > mapping->high) return;
  hole_search search = {.heap = heap, .at = undead_page_of(block - sizeof(uintptr_t))};
  undead_pages_each(pages, mapping, search.at, end, end_hole, &search);
  if (search.begun) add_hole(&search, undead_page_of(end));
}

void undead_holes_find(undead_heap *heap) {
  undead_pages pages;
  if (!heap->large_count || !undead_pages_open(&pages, undead_proc_process())) return;
  for (uint32_t i = 0; i < heap->large_count; i++) find_in_block(heap, &pages, heap->large[i]);
  undead_pages_close(&pages);
}
