#define _GNU_SOURCE
#include "scan/roots.h"
#include "platform/maps.h"
#include "platform/memory.h"
#include "scan/roots_internal.h"
#include "world/images.h"
#include "world/intervals.h"
#include "world/raw_x86_64.h"
#include <assert.h>
#include <fcntl.h>

#define ROOT_CAPACITY (1u << 20)
#define EXCLUDED_CAPACITY (1u << 18)
#define PAGE 4096ull
#define PIECE_PAGES 65536ull

// Entries of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_SWAPPED (1ull << 62)
#define PAGEMAP_FILE (1ull << 61)

void undead_root_add(undead_root_search *search, uintptr_t low, uintptr_t high, undead_root_kind kind, int32_t tid) {
  undead_roots *roots = search->roots;
  low = (low + 7) & ~(uintptr_t)7;
  high &= ~(uintptr_t)7;
  if (low >= high) return;
  undead_root *last = roots->count ? &roots->roots[roots->count - 1] : NULL;
  bool allocator = kind == UNDEAD_ROOT_GLOBAL && undead_in(undead_image_facts.libc, low);
  if (last && last->high == low && last->kind == kind && last->tid == tid && last->allocator == allocator) {
    last->high = high;
    return;
  }
  if (roots->count == roots->capacity) {
    roots->overflow = true;
    return;
  }
  roots->roots[roots->count++] = (undead_root){low, high, tid, (uint8_t)kind, allocator};
}

bool undead_root_is_free_chunk(const undead_heap *heap, uintptr_t word) {
  if (word & 15) return false;
  uintptr_t block = undead_heap_resolve(heap, word);
  return block && block + undead_block_size(block) == word + 8;
}

// glibc's secondary arenas are heaps of 64 MiB, aligned to their size, with a header (malloc/arena.c, heap_info).
typedef struct {
  uintptr_t arena, previous;
  size_t size, writable_size;
} heap_header;

#define ARENA_HEAP_BYTES (64ull << 20)

static bool is_arena_heap(uintptr_t address, const heap_header *header) {
  if (header->size % PAGE || !header->size || header->size > ARENA_HEAP_BYTES) return false;
  if (header->writable_size % PAGE || header->writable_size < header->size) return false;
  if (header->writable_size > ARENA_HEAP_BYTES || header->previous % ARENA_HEAP_BYTES) return false;
  if (!header->previous) return header->arena - address >= sizeof *header && header->arena - address <= 64;
  return undead_is_readable(header->previous, sizeof *header)
    && ((const heap_header *)header->previous)->arena == header->arena;
}

static void exclude_arenas(undead_root_search *search, const undead_mapping *mapping) {
  uintptr_t first = (mapping->low + ARENA_HEAP_BYTES - 1) & ~(uintptr_t)(ARENA_HEAP_BYTES - 1);
  for (uintptr_t at = first; at < mapping->high; at += ARENA_HEAP_BYTES) {
    // Our own tables reserve much and touch little: asking them would make them grow.
    if (undead_owns_memory(at)) continue;
    const heap_header *header = (const void *)at;
    if (is_arena_heap(at, header)) undead_intervals_add(&search->excluded, at, at + header->writable_size);
  }
}

static void exclude_main_heap(undead_root_search *search) {
  uintptr_t end = (uintptr_t)undead_raw3(SYS_brk, 0, 0, 0);
  const undead_mapping *mapping = undead_mapping_of(end - 1);
  if (!mapping) return;
  uintptr_t low = mapping->low;
  for (uint32_t i = 0; i < undead_image_facts.writable_count; i++) {
    undead_interval segment = undead_image_facts.writable[i];
    if (segment.high > low && segment.low < end) low = (segment.high + PAGE - 1) & ~(PAGE - 1);
  }
  undead_intervals_add(&search->excluded, low, end);
}

static void exclude_known(undead_root_search *search) {
  const undead_images *facts = &undead_image_facts;
  uintptr_t low, high;
  for (uint32_t i = 0; i < facts->constant_count; i++)
    undead_intervals_add(&search->excluded, facts->constant[i].low, facts->constant[i].high);
  for (size_t i = 0; undead_owned_range(i, &low, &high); i++) undead_intervals_add(&search->excluded, low, high);
  if (search->options->unknown_blocks) return;
  exclude_main_heap(search);
  for (size_t i = 0; i < undead_mapping_count(); i++) {
    const undead_mapping *mapping = undead_mapping_at(i);
    if (mapping->readable && mapping->writable) exclude_arenas(search, mapping);
  }
}

// Whether the program ever touched a page: others hold nothing, and reading them would cost memory or may fault.
static bool is_touched(uint64_t entry, bool writable) {
  if (!(entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED))) return false;
  return writable || !(entry & PAGEMAP_FILE);
}

typedef void (*page_visitor)(undead_root_search *search, const undead_mapping *mapping, uintptr_t page);

static void each_touched_page(undead_root_search *search, const undead_mapping *mapping, uintptr_t low, uintptr_t high,
                              page_visitor visit) {
  for (uintptr_t piece = low & ~(PAGE - 1); piece < high; piece += PIECE_PAGES * PAGE) {
    uintptr_t end = high - piece > PIECE_PAGES * PAGE ? piece + PIECE_PAGES * PAGE : high;
    uint64_t count = (end - piece + PAGE - 1) / PAGE;
    long bytes = undead_raw4(SYS_pread64, search->pagemap, (long)search->pages, (long)(count * 8), (long)(piece / PAGE * 8));
    for (uint64_t i = 0; i < count; i++) {
      bool known = bytes > 0 && i < (uint64_t)bytes / 8;
      if (!known ? mapping->writable : is_touched(search->pages[i], mapping->writable)) visit(search, mapping, piece + i * PAGE);
    }
  }
}

static void each_part(undead_root_search *search, const undead_mapping *mapping, page_visitor visit) {
  for (uintptr_t at = mapping->low, next; at < mapping->high; at = next) {
    uintptr_t end = undead_intervals_skip(&search->excluded, at, &next);
    if (end) {
      next = end;
      continue;
    }
    if (next > mapping->high) next = mapping->high;
    search->part = (undead_interval){at, next};
    each_touched_page(search, mapping, at, next, visit);
  }
}

// What lies between the recorded blocks of a page: blocks of which nothing is known, and free memory.
static void add_unknown_blocks(undead_root_search *search, uintptr_t low, uintptr_t high) {
  for (uintptr_t at = low, next; at < high; at = next) {
    uintptr_t block = undead_heap_resolve(search->heap, at);
    // A chunk of malloc ends 8 bytes before the next block.
    next = block ? (block + undead_block_size(block) + 15) & ~(uintptr_t)15 : at + 16;
    if (next <= at) next = at + 16;
    if (!block) undead_root_add(search, at, next < high ? next : high, UNDEAD_ROOT_GLOBAL, 0);
  }
}

static void visit_root_page(undead_root_search *search, const undead_mapping *mapping, uintptr_t page) {
  (void)mapping;
  uintptr_t low = page > search->part.low ? page : search->part.low;
  uintptr_t high = page + PAGE < search->part.high ? page + PAGE : search->part.high;
  if (page - search->heap->low < search->heap->high - search->heap->low && undead_heap_page(search->heap, page)) {
    if (search->options->unknown_blocks) add_unknown_blocks(search, low, high);
    return;
  }
  undead_root_add(search, low, high, UNDEAD_ROOT_GLOBAL, 0);
}

// Code and constants of images: only their relocated data was ever written.
static bool is_constant(const undead_mapping *mapping) {
  if (mapping->writable) return false;
  for (uint32_t i = 0; i < undead_image_facts.writable_count; i++)
    if (mapping->low < undead_image_facts.writable[i].high && mapping->high > undead_image_facts.writable[i].low)
      return false;
  return undead_module_of(mapping->low) != NULL;
}

static void add_mappings(undead_root_search *search) {
  for (size_t i = 1; i < undead_mapping_count(); i++) {
    const undead_mapping *mapping = undead_mapping_at(i), *before = undead_mapping_at(i - 1);
    bool guarded = before->high == mapping->low && !before->readable;
    if (guarded && mapping->readable && mapping->writable)
      each_part(search, mapping, undead_roots_exclude_dead_stack);
  }
  undead_intervals_sort(&search->excluded);
  for (size_t i = 0; i < undead_mapping_count(); i++) {
    const undead_mapping *mapping = undead_mapping_at(i);
    if (mapping->readable && !is_constant(mapping)) each_part(search, mapping, visit_root_page);
  }
}

bool undead_roots_open(undead_roots *roots, const undead_world *world, const undead_heap *heap,
                       const undead_stale *stale, const undead_scan_options *options) {
  undead_root_search search = {
    .roots = roots, .world = world, .heap = heap, .stale = stale, .options = options, .pagemap = -1};
  *roots = (undead_roots){.capacity = ROOT_CAPACITY};
  roots->roots = undead_map(ROOT_CAPACITY * sizeof *roots->roots);
  search.pages = undead_map(PIECE_PAGES * sizeof *search.pages);
  bool ok = roots->roots && search.pages && undead_intervals_open(&search.excluded, EXCLUDED_CAPACITY);
  if (ok) {
    search.pagemap = undead_raw4(SYS_openat, AT_FDCWD, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    undead_roots_add_threads(&search);
    exclude_known(&search);
    undead_intervals_sort(&search.excluded);
    add_mappings(&search);
    if (search.pagemap >= 0) undead_raw3(SYS_close, search.pagemap, 0, 0);
    ok = !roots->overflow && !search.excluded.overflow;
  }
  undead_intervals_close(&search.excluded);
  if (search.pages) undead_unmap(search.pages, PIECE_PAGES * sizeof *search.pages);
  if (!ok) undead_roots_close(roots);
  return ok;
}

void undead_roots_close(undead_roots *roots) {
  if (roots->roots) undead_unmap(roots->roots, roots->capacity * sizeof *roots->roots);
  roots->roots = NULL;
  roots->count = 0;
}
