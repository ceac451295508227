// Chunks that have a mapping of their own. Nothing lists them, but malloc counts them and their bytes: all are found, or it is said
// that they are not.
#define _GNU_SOURCE
#include "glibc/heap_internal.h"
#include "platform/maps.h"
#include "platform/memory.h"
#include "platform/raw_x86_64.h"
#include <string.h>

#define PAGE 4096ull
#define PIECE_PAGES 65536u
#define MOST_COUNT (1 << 24)

typedef struct {
  undead_glibc_heap *heap;
  uint8_t *resident;         // of the pages of a piece
  uint64_t count, bytes;     // found
  bool no_memory;
} search;

static bool may_hold_chunks(const undead_mapping *mapping) {
  if (!mapping->readable || !mapping->writable || mapping->executable) return false;
  // Huge pages that malloc asked for are files to the kernel.
  bool huge = !strncmp(mapping->path, "/anon_hugepage", 14);
  return huge || (!mapping->shared && mapping->what == UNDEAD_MAPPED_NOTHING);
}

// The bytes of the mapping that begins at `base`, if the chunk at `offset` in it is one of malloc's; else 0. Since 2.43 the size
// does not count the header, and the offset has a mark for huge pages.
static uintptr_t mapped_bytes(uintptr_t base, uintptr_t offset, uintptr_t most) {
  uintptr_t chunk = base + offset, head = undead_chunk_head(chunk), size = head & ~(uintptr_t)CHUNK_FLAGS;
  if ((head & CHUNK_FLAGS) != CHUNK_MAPPED || size < CHUNK_SMALLEST || size > most) return 0;
  uintptr_t before = undead_glibc_word(chunk), bytes = size + offset;
  if (before != offset && before != (offset | 1)) return 0;
  if (bytes % PAGE == CHUNK_HEADER * 255) bytes += CHUNK_HEADER;
  return bytes % PAGE == 0 && bytes <= most ? bytes : 0;
}

// Blocks with an alignment of their own begin later: one header's length before a multiple of it.
static uintptr_t find_chunk(uintptr_t base, uintptr_t most, uintptr_t *offset) {
  *offset = 0;
  uintptr_t bytes = mapped_bytes(base, 0, most);
  for (uintptr_t alignment = 32; !bytes && alignment < most; alignment *= 2) {
    *offset = (base & ~(alignment - 1)) + alignment - base - CHUNK_HEADER;
    while (*offset < CHUNK_SMALLEST) *offset += alignment;
    if (*offset + CHUNK_SMALLEST <= most) bytes = mapped_bytes(base, *offset, most);
  }
  return bytes;
}

static uintptr_t take_at(search *self, uintptr_t base, uintptr_t most) {
  uintptr_t offset, bytes = find_chunk(base, most, &offset);
  if (!bytes) return PAGE;
  self->count++;
  self->bytes += bytes;
  self->heap->blocks++;
  undead_registry_see(base + offset + CHUNK_HEADER);
  self->no_memory |= !undead_glibc_add_area(self->heap, base, base + bytes);
  return bytes;
}

// Large parts that were never touched are not read.
static void search_part(search *self, uintptr_t low, uintptr_t high) {
  uintptr_t known = low, first = low;
  for (uintptr_t at = low; at < high;) {
    if (at >= known) {
      first = at;
      uintptr_t bytes = high - at < PIECE_PAGES * PAGE ? high - at : PIECE_PAGES * PAGE;
      known = at + bytes;
      if (undead_raw3(SYS_mincore, (long)at, (long)bytes, (long)self->resident) < 0) memset(self->resident, 1, PIECE_PAGES);
    }
    at += self->resident[(at - first) / PAGE] & 1 ? take_at(self, at, high - at) : PAGE;
  }
}

// What is no arena's of a mapping. `areas` grows meanwhile: only the first `arenas` are arenas'.
static void search_mapping(search *self, const undead_mapping *mapping, uint32_t arenas) {
  uintptr_t at = mapping->low;
  while (at < mapping->high) {
    uintptr_t next = mapping->high, behind = 0;
    for (uint32_t i = 0; i < arenas; i++) {
      const undead_glibc_area *area = &self->heap->areas[i];
      if (area->low <= at && at < area->high) behind = area->high;
      else if (area->low > at && area->low < next) next = area->low;
    }
    if (!behind) search_part(self, at, next & ~(PAGE - 1));
    at = ((behind ? behind : next) + PAGE - 1) & ~(PAGE - 1);
  }
}

static bool is_settings(uintptr_t at, uintptr_t main_start) {
  if (undead_glibc_word(at) == 0 || (main_start - undead_glibc_word(at)) >= CHUNK_HEADER) return false;
  uintptr_t bytes = undead_glibc_word(at + PAR_MAPPED_BYTES), most = undead_glibc_word(at + PAR_MAPPED_MOST_BYTES);
  return bytes % PAGE == 0 && most % PAGE == 0 && bytes <= most && undead_glibc_word(at + PAR_CACHE_COUNT) <= UINT16_MAX;
}

// struct malloc_par is known by the start of the heap, which only it has besides the loader's __curbrk and such.
static uintptr_t find_settings(const undead_glibc_heap *heap, uintptr_t main_start) {
  for (uintptr_t at = (heap->data.low + 47) & ~(uintptr_t)7; at + PAR_CACHE_COUNT + 8 <= heap->data.high; at += 8)
    if (is_settings(at, main_start)) return at;
  return 0;
}

static bool agrees(const search *self, uintptr_t settings) {
  static const int places[] = {PAR_MAPPED_COUNT, PAR_MAPPED_COUNT_2_34};
  for (int i = 0; i < 2; i++) {
    int32_t count = *(const int32_t *)(settings + (uintptr_t)(intptr_t)places[i]);
    if (count >= 0 && count <= MOST_COUNT && (uint64_t)count == self->count)
      return undead_glibc_word(settings + PAR_MAPPED_BYTES) == self->bytes;
  }
  return false;
}

undead_glibc_result undead_glibc_take_mapped(undead_glibc_heap *heap, uintptr_t main_start, uintptr_t *settings) {
  search self = {.heap = heap, .resident = undead_map(PIECE_PAGES)};
  if (!self.resident) return UNDEAD_GLIBC_NO_MEMORY;
  uint32_t arenas = heap->area_count;
  for (size_t i = 0; i < undead_mapping_count(); i++)
    if (may_hold_chunks(undead_mapping_at(i))) search_mapping(&self, undead_mapping_at(i), arenas);
  undead_unmap(self.resident, PIECE_PAGES);
  heap->mapped = (uint32_t)self.count;
  if (self.no_memory) return UNDEAD_GLIBC_NO_MEMORY;
  *settings = find_settings(heap, main_start);
  if (!*settings) return undead_glibc_fail(heap, UNDEAD_GLIBC_UNKNOWN, "malloc's settings were not found", main_start);
  if (agrees(&self, *settings)) return UNDEAD_GLIBC_OK;
  return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "malloc has other mapped blocks than were found", *settings);
}
