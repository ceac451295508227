// How glibc's malloc has cut up its memory, for the reader of a heap file, who knows the blocks: the parts of arenas, their tops,
// what threads keep for themselves, and the pages that are there. In a copy of a process from malloc's own tables; in a process
// that is recorded from the ring of arenas, and from the lists of threads as the scan found them. Nothing for other allocators.
#include "glibc/heap.h"
#include "glibc/layout.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "record/allocator.h"
#include "scan/arenas.h"
#include "session/sections/snapshot_sections.h"
#include <string.h>
#include <sys/mman.h>

#define PAGES_AT_ONCE 4096u
#define MOST_HEAPS 1000000u

enum { PART_OF_MAIN = 1, PART_OF_OTHER, PART_TOP, PART_KEPT, PART_PAGES };

typedef struct {
  undead_writer *writer;
  undead_section *section;
  uintptr_t low, high;   // a run of pages that grows
} malloc_map;

static void write_malloc_range(malloc_map *map, uint64_t kind, uintptr_t low, uintptr_t high) {
  struct {
    uint64_t low, high, kind;
  } entry = {low, high, kind};
  if (low < high) undead_section_add(map->writer, map->section, &entry);
}

static void tell_page(malloc_map *map, uintptr_t page) {
  if (map->high != page) {
    write_malloc_range(map, PART_PAGES, map->low, map->high);
    map->low = page;
  }
  map->high = page + UNDEAD_PAGE;
}

static void tell_pages(malloc_map *map, uintptr_t low, uintptr_t high) {
  static unsigned char resident[PAGES_AT_ONCE];
  map->low = map->high = 0;
  high = undead_page_from(high);
  for (uintptr_t at = undead_page_of(low), end; at < high; at = end) {
    end = high - at < PAGES_AT_ONCE * UNDEAD_PAGE ? high : at + PAGES_AT_ONCE * UNDEAD_PAGE;
    if (mincore((void *)at, end - at, resident) != 0) continue;
    for (size_t i = 0; i < (end - at) / UNDEAD_PAGE; i++)
      if (resident[i] & 1) tell_page(map, at + i * UNDEAD_PAGE);
  }
  write_malloc_range(map, PART_PAGES, map->low, map->high);
}

static void tell_part(void *context, undead_glibc_area area, bool main) {
  malloc_map *map = context;
  write_malloc_range(map, main ? PART_OF_MAIN : PART_OF_OTHER, area.low, area.high);
  if (area.top) write_malloc_range(map, PART_TOP, area.top, area.high);
  tell_pages(map, area.low, area.high);
}

typedef struct {
  undead_malloc_visitor visit;
  void *context;
} part_walk;

// The heaps of an arena that is not the main one, the newest first.
static void visit_heaps(const part_walk *walk, uintptr_t arena, uintptr_t top) {
  uintptr_t most = undead_glibc_greatest_heap(arena, top), heap = most ? top & ~(most - 1) : 0;
  for (uint32_t count = 0; heap && heap % most == 0 && count < MOST_HEAPS; count++) {
    if (!undead_is_readable(heap, HEAP_INFO) || undead_glibc_word(heap + HEAP_ARENA) != arena) return;
    uintptr_t size = undead_glibc_word(heap + HEAP_SIZE);
    if (size < HEAP_INFO || size > most) return;
    walk->visit(walk->context, (undead_glibc_area){.low = heap, .high = heap + size, .top = count ? 0 : top}, false);
    heap = undead_glibc_word(heap + HEAP_PREVIOUS);
  }
}

static void visit_arena(void *context, uintptr_t start, uintptr_t top, bool main) {
  const part_walk *walk = context;
  if (!undead_is_readable(top, CHUNK_HEADER)) return;
  const undead_mapping *mapping = undead_mapping_of(top);
  if (!main) visit_heaps(walk, start, top);
  else if (mapping && strcmp(mapping->path, "[heap]") == 0)
    walk->visit(walk->context, (undead_glibc_area){.low = mapping->low, .high = mapping->high, .top = top}, true);
}

void undead_malloc_parts_each(undead_malloc_visitor visit, void *context) {
  part_walk walk = {visit, context};
  const undead_glibc_heap *found = undead_glibc_found();
  if (undead_allocator_is_other()) return;
  if (!found) return undead_arenas_each(visit_arena, &walk);
  for (uint32_t i = 0; i < found->area_count; i++)
    if (found->areas[i].chunks) visit(context, found->areas[i], i < found->main_areas);
}

static void tell_kept(malloc_map *map, const undead_glibc_heap *heap) {
  for (uint32_t i = 0; i < heap->kept_count; i++) {
    uintptr_t chunk = heap->kept[i] - CHUNK_HEADER;
    write_malloc_range(map, PART_KEPT, chunk, chunk + undead_chunk_bytes(chunk));
  }
}

void undead_heap_malloc_write(undead_writer *writer, const undead_graph *graph) {
  malloc_map map = {.writer = writer, .section = undead_section_begin(writer, UNDEAD_SECTION_HEAP_MALLOC, 24)};
  undead_malloc_parts_each(tell_part, &map);
  if (undead_glibc_found()) tell_kept(&map, undead_glibc_found());
  else for (uint32_t i = 0; i < graph->kept_count; i++) write_malloc_range(&map, PART_KEPT, graph->kept[i].low, graph->kept[i].high);
}
