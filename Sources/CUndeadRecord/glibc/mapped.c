// Chunks that have a mapping of their own. Nothing lists them, but malloc counts them and their bytes: all are found, or an
// error says that they are not. Numbers in other memory may look like their headers, so more may be found than there are:
// then those count that border on others, with the largest of the rest; or they are looked for in fewer places.
#include "glibc/heap_internal.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include "platform/system/text.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PIECE_PAGES 65536u
#define MOST_DRIFT (1ull << 40)
#define MOST_OVERFLOW (1ull << 20)   // of a stack, until the program ends

typedef struct {
  undead_glibc_heap *heap;
  uint8_t *resident;         // of the pages of a piece
  uint32_t others;           // as many of the first areas hold no such chunks: those of arenas, and stacks
  bool strict;               // only mappings that border on others
  uint64_t count, bytes;     // found, or chosen of it
  uint64_t found_count, found_bytes;
  bool no_memory;
} search;

static bool may_hold_chunks(const undead_mapping *mapping) {
  // Huge pages that malloc asked for are files to the kernel.
  bool huge = undead_starts_with(mapping->path, "/anon_hugepage");
  return huge || (!mapping->shared && mapping->what == UNDEAD_MAPPED_NOTHING);
}

// If one of malloc's chunks is at `chunk` and its mapping lies between the limits: the mapping. Since 2.43 the size does not count
// the header, and the distance from the start of the mapping, in place of the size of a chunk before, has a mark for huge pages.
static bool is_mapped_chunk(uintptr_t chunk, uintptr_t low, uintptr_t high, undead_glibc_area *mapping) {
  if (high - chunk < CHUNK_SMALLEST || (undead_chunk_head(chunk) & CHUNK_FLAGS) != CHUNK_MAPPED) return false;
  uintptr_t size = undead_chunk_bytes(chunk), offset = undead_glibc_word(chunk) & ~(uintptr_t)CHUNK_OFFSET_MARK_SINCE_2_43;
  if (size < CHUNK_SMALLEST || size > high - chunk || offset > chunk - low || (chunk - offset) % UNDEAD_PAGE) return false;
  uintptr_t end = chunk + size;
  if ((end + CHUNK_HEADER) % UNDEAD_PAGE == 0) end += CHUNK_HEADER;
  *mapping = (undead_glibc_area){chunk - offset, end};
  return end % UNDEAD_PAGE == 0 && end <= high;
}

// Where a chunk can begin in a page: with the mapping; or so that an aligned block follows, at least a chunk's length behind. What
// is aligned to pages or more ends one with its header, and may be in any page if the mapping was moved.
static const uint16_t places[] = {0, 16, 48, 112, 240, 496, 1008, 2032, 4080};

enum { PLACES = sizeof places / sizeof *places, MOST_ALIGNMENT_PAGES = 1024 };

// In the address of a chunk, while it is looked for: its mapping borders on nothing.
#define ALONE ((uintptr_t)1)

// An aligned block was cut from a larger one, whose header still stands at the start of the mapping.
static uintptr_t cut_from(uintptr_t start, uintptr_t high, undead_glibc_area *mapping) {
  undead_glibc_area cut;
  for (unsigned i = 1; i < PLACES - 1; i++)
    if (is_mapped_chunk(start + places[i], start, high, &cut) && cut.low == start) {
      *mapping = cut;
      return start + places[i];
    }
  uintptr_t at = start + places[PLACES - 1];
  for (uintptr_t pages = 0; pages < MOST_ALIGNMENT_PAGES && at + UNDEAD_PAGE <= mapping->high; pages++, at += UNDEAD_PAGE)
    if (undead_page_is_readable(at) && is_mapped_chunk(at, start, high, &cut) && cut.low == start) {
      *mapping = cut;
      return at;
    }
  return start;
}

// The kernel puts a new mapping beside an older one. `low` and `high`: where memory begins and ends that may be malloc's.
static bool has_border(const undead_glibc_area *mapping, uintptr_t low, uintptr_t high) {
  undead_glibc_area next;
  if (mapping->low == low || mapping->high == high) return true;
  return undead_page_is_readable(mapping->high) && is_mapped_chunk(mapping->high, mapping->high, high, &next)
         && next.low == mapping->high;
}

static uintptr_t take_at(search *self, uintptr_t page, uintptr_t low, uintptr_t high) {
  undead_glibc_area mapping;
  if (!undead_page_is_readable(page)) return page + UNDEAD_PAGE;
  for (unsigned i = 0; i < PLACES; i++) {
    uintptr_t chunk = page + places[i];
    if (!is_mapped_chunk(chunk, low, high, &mapping)) continue;
    if (chunk == mapping.low) chunk = cut_from(chunk, high, &mapping);
    bool alone = !has_border(&mapping, low, high);
    if (self->strict && alone) continue;
    self->count++;
    self->bytes += mapping.high - mapping.low;
    bool added = undead_glibc_add_area(self->heap, mapping.low, mapping.high);
    if (added) self->heap->areas[self->heap->area_count - 1].chunk = chunk | (alone ? ALONE : 0);
    self->no_memory |= !added;
    return mapping.high;
  }
  return page + UNDEAD_PAGE;
}

// Large parts that were never touched are not read.
static void search_part(search *self, uintptr_t low, uintptr_t high) {
  uintptr_t known = low, first = low, behind = low;   // the last mapping that was found
  for (uintptr_t at = low; at < high;) {
    if (at >= known) {
      first = at;
      uintptr_t bytes = high - at < PIECE_PAGES * UNDEAD_PAGE ? high - at : PIECE_PAGES * UNDEAD_PAGE;
      known = at + bytes;
      long asked = undead_raw3(SYS_mincore, (long)at, (long)bytes, (long)self->resident);
      if (asked < 0) memset(self->resident, 0, PIECE_PAGES);   // the copy does not have it
    }
    uintptr_t next = self->resident[(at - first) / UNDEAD_PAGE] & 1 ? take_at(self, at, behind, high) : at + UNDEAD_PAGE;
    if (next > at + UNDEAD_PAGE) behind = next;
    at = next;
  }
}

// What is nobody else's of a run of mappings. `areas` grows meanwhile.
static void search_run(search *self, uintptr_t low, uintptr_t high) {
  uintptr_t at = low;
  while (at < high) {
    uintptr_t next = high, behind = 0;
    for (uint32_t i = 0; i < self->others; i++) {
      const undead_glibc_area *area = &self->heap->areas[i];
      if (area->low <= at && at < area->high) behind = area->high;
      else if (area->low > at && area->low < next) next = area->low;
    }
    if (!behind) search_part(self, at, undead_page_of(next));
    at = undead_page_from(behind ? behind : next);
  }
}

// Of a block whose owner has protected pages of it, or given other advice, the parts are mappings of their own.
static void search_all(search *self) {
  for (size_t i = 0, next; i < undead_mapping_count(); i = next) {
    const undead_mapping *mapping = undead_mapping_at(i);
    uintptr_t low = mapping->low, high = low;
    for (next = i; next < undead_mapping_count(); next++, high = mapping->high) {
      mapping = undead_mapping_at(next);
      if (mapping->low != high || !may_hold_chunks(mapping)) break;
      if (!mapping->readable)   // this is a copy that nobody else needs
        undead_raw3(SYS_mprotect, (long)mapping->low, (long)(mapping->high - mapping->low), PROT_READ);
    }
    if (low < high) search_run(self, low, high);
    if (next == i) next++;
  }
}

// Of the first part that the main arena was given, before its first chunk was aligned.
static bool is_start_of_main(const undead_glibc_heap *heap, uintptr_t address) {
  for (uint32_t i = 0; address && i < heap->main_areas; i++)
    if (heap->areas[i].low - address < CHUNK_HEADER) return true;
  return false;
}

// Since 2.43 each block that was moved makes the sum 16 bytes larger than it is (mremap_chunk).
static bool is_settings(const undead_glibc_heap *heap, uintptr_t at) {
  if (!is_start_of_main(heap, undead_glibc_word(at))) return false;
  return undead_glibc_word(at + PAR_MAPPED_BYTES) % CHUNK_HEADER == 0 && undead_glibc_word(at + PAR_CACHE_COUNT) <= UINT16_MAX;
}

// struct malloc_par is known by the start of the heap.
static uintptr_t find_settings(const undead_glibc_heap *heap) {
  for (uintptr_t at = (heap->data.low + 47) & ~(uintptr_t)7; at + PAR_CACHE_COUNT + 8 <= heap->data.high; at += 8)
    if (is_settings(heap, at)) return at;
  return 0;
}

// Its place has changed: of which version it is, is seen by what agrees.
enum { COUNT_PLACES = 2 };

static int32_t count_at(uintptr_t settings, int i) {
  return *(const int32_t *)(settings + (uintptr_t)(intptr_t)(i ? PAR_MAPPED_COUNT_UNTIL_2_34 : PAR_MAPPED_COUNT));
}

static bool agrees(const search *self, uintptr_t settings) {
  for (int i = 0; i < COUNT_PLACES; i++) {
    int32_t count = count_at(settings, i);
    if (count < 0 || (uint64_t)count != self->count) continue;
    uint64_t more = undead_glibc_word(settings + PAR_MAPPED_BYTES) - self->bytes;
    return more == 0 || (self->heap->without_fast_bins && more % CHUNK_HEADER == 0 && more <= MOST_DRIFT);
  }
  return false;
}

static uint64_t bytes_of(const undead_glibc_area *area) { return area->high - area->low; }

static bool is_chosen(const undead_glibc_area *area, uint64_t least) { return !(area->chunk & ALONE) || bytes_of(area) >= least; }

static void count_chosen(search *self, uint64_t least) {
  self->count = self->bytes = 0;
  for (uint32_t i = self->others; i < self->heap->area_count; i++) {
    const undead_glibc_area *area = &self->heap->areas[i];
    if (!is_chosen(area, least)) continue;
    self->count++;
    self->bytes += bytes_of(area);
  }
}

static void keep_chosen(search *self, uint64_t least) {
  uint32_t kept = self->others;
  for (uint32_t i = self->others; i < self->heap->area_count; i++)
    if (is_chosen(&self->heap->areas[i], least)) self->heap->areas[kept++] = self->heap->areas[i];
  self->heap->area_count = kept;
}

// The size from which on `wanted` of those that are alone are, 0 if there is none.
static uint64_t least_of_largest(const search *self, uint64_t wanted) {
  uint64_t low = 1, high = UINT64_MAX;   // from `low` on there are as many or more, from `high` on as many or fewer
  while (low < high) {
    uint64_t middle = low + (high - low) / 2, count = 0;
    for (uint32_t i = self->others; i < self->heap->area_count; i++) {
      const undead_glibc_area *area = &self->heap->areas[i];
      count += area->chunk & ALONE && bytes_of(area) >= middle;
    }
    if (count == wanted) return middle;
    if (count > wanted) low = middle + 1;
    else high = middle;
  }
  return 0;
}

// Of what was found: all that borders on others, and of the rest as many of the largest as are missing. If malloc counts as many
// bytes, no other choice does: each has fewer.
static bool choose_largest(search *self, uintptr_t settings) {
  if (self->heap->without_fast_bins) return false;   // the sum is not exact
  uint64_t bordered = 0;
  for (uint32_t i = self->others; i < self->heap->area_count; i++) bordered += !(self->heap->areas[i].chunk & ALONE);
  for (int i = 0; i < COUNT_PLACES; i++) {
    int64_t count = count_at(settings, i);
    uint64_t least = count < (int64_t)bordered ? 0 : least_of_largest(self, (uint64_t)count - bordered);
    if (!least) continue;
    count_chosen(self, least);
    if (!agrees(self, settings)) continue;
    keep_chosen(self, least);
    return true;
  }
  return false;
}

// The stack of a thread other than the first lies below its own data, and may have been too small.
static bool add_stack(undead_glibc_heap *heap, uintptr_t stack_pointer, uintptr_t thread) {
  const undead_mapping *mapping = undead_mapping_of(thread);
  if (!mapping || stack_pointer >= thread || stack_pointer + MOST_OVERFLOW < mapping->low) return true;
  return undead_glibc_add_area(heap, mapping->low, thread);
}

static bool add_stacks(undead_glibc_heap *heap, bool of_all) {
  extern void *__libc_stack_end;
  const undead_mapping *first = undead_mapping_of((uintptr_t)__libc_stack_end);
  if (first && !undead_glibc_add_area(heap, first->low, first->high)) return false;
  for (uint32_t i = 0; of_all && i < heap->thread_count; i++)
    if (!add_stack(heap, heap->stack_pointers[i], heap->threads[i])) return false;
  return true;
}

// Searches once; true if what is found is what malloc counts. Else nothing was added, unless memory ran out.
static bool search_once(search *self, uintptr_t settings, bool skips_stacks, bool strict) {
  undead_glibc_heap *heap = self->heap;
  uint32_t arenas = heap->area_count;
  self->strict = strict;
  self->count = self->bytes = 0;
  self->no_memory = !add_stacks(heap, skips_stacks);
  self->others = heap->area_count;
  if (!self->no_memory) search_all(self);
  self->found_count = self->count;
  self->found_bytes = self->bytes;
  bool agreed = !self->no_memory && (agrees(self, settings) || choose_largest(self, settings));
  uint32_t found = heap->area_count - self->others;
  heap->area_count = arenas;
  if (!agreed) return false;
  memmove(&heap->areas[arenas], &heap->areas[self->others], found * sizeof *heap->areas);
  heap->area_count += found;
  return true;
}

static void take_found(undead_glibc_heap *heap, uint32_t arenas) {
  for (uint32_t i = arenas; i < heap->area_count; i++) {
    heap->areas[i].chunk &= ~ALONE;
    undead_registry_see(heap->areas[i].chunk + CHUNK_HEADER);
  }
  heap->mapped = heap->area_count - arenas;
  heap->blocks += heap->mapped;
}

undead_glibc_result undead_glibc_take_mapped(undead_glibc_heap *heap, uintptr_t *settings) {
  *settings = find_settings(heap);
  if (!*settings) return undead_glibc_fail(heap, UNDEAD_GLIBC_UNKNOWN, "malloc's settings were not found", heap->data.low);
  uintptr_t bytes = undead_glibc_word(*settings + PAR_MAPPED_BYTES);
  if (bytes == 0) return UNDEAD_GLIBC_OK;
  search self = {.heap = heap, .resident = undead_map(PIECE_PAGES)};
  if (!self.resident) return UNDEAD_GLIBC_NO_MEMORY;
  uint32_t arenas = heap->area_count;
  // A stack without a guard may share its mapping with blocks.
  bool agreed = search_once(&self, *settings, true, false);
  uint64_t first_count = self.found_count, first_bytes = self.found_bytes;
  for (int other = 0; other < 3 && !agreed && !self.no_memory; other++)
    agreed = search_once(&self, *settings, other == 0, other != 1);
  undead_unmap(self.resident, PIECE_PAGES);
  if (self.no_memory) return UNDEAD_GLIBC_NO_MEMORY;
  if (agreed) {
    take_found(heap, arenas);
    return UNDEAD_GLIBC_OK;
  }
  snprintf(heap->message, sizeof heap->message, "malloc counts %lu mapped bytes, and %lu in %lu blocks were found", bytes,
           first_bytes, first_count);
  return UNDEAD_GLIBC_UNSETTLED;
}
