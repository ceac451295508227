#define _GNU_SOURCE
#include "scan/roots.h"
#include "platform/maps.h"
#include "platform/memory.h"
#include "platform/raw_x86_64.h"
#include "scan/roots_internal.h"
#include "world/images.h"
#include "world/intervals.h"
#include <fcntl.h>
#include <string.h>

#define FIRST_ROOTS (1u << 20)
#define EXCLUDED_CAPACITY (1u << 18)
#define PAGE 4096ull
#define PIECE_PAGES 65536ull

// Entries of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_SWAPPED (1ull << 62)
#define PAGEMAP_FILE (1ull << 61)

static bool grow(undead_roots *roots) {
  undead_root *larger = undead_map(roots->capacity * 2ull * sizeof *larger);
  if (!larger) return false;
  memcpy(larger, roots->roots, roots->capacity * sizeof *larger);
  undead_unmap(roots->roots, roots->capacity * sizeof *larger);
  roots->roots = larger;
  roots->capacity *= 2;
  return true;
}

void undead_root_add(undead_root_search *search, uintptr_t low, uintptr_t high, undead_root_kind kind, int32_t tid) {
  undead_roots *roots = search->roots;
  low = (low + 7) & ~(uintptr_t)7;
  high &= ~(uintptr_t)7;
  if (low >= high) return;
  undead_root *last = roots->count ? &roots->roots[roots->count - 1] : NULL;
  if (last && last->high == low && last->kind == kind && last->tid == tid) {
    last->high = high;
    return;
  }
  if (roots->count == roots->capacity && !grow(roots)) {
    roots->overflow = true;
    return;
  }
  roots->roots[roots->count++] = (undead_root){low, high, tid, (uint8_t)kind, false};
}

static void exclude_known(undead_root_search *search) {
  const undead_images *facts = &undead_image_facts;
  uintptr_t low, high;
  for (uint32_t i = 0; i < facts->constant_count; i++)
    undead_intervals_add(&search->excluded, facts->constant[i].low, facts->constant[i].high);
  for (size_t i = 0; undead_owned_range(i, &low, &high); i++) undead_intervals_add(&search->excluded, low, high);
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

// True if recorded blocks or free chunks lie in the page, or reach into it.
static bool is_of_malloc(const undead_root_search *search, uintptr_t page) {
  const undead_heap *heap = search->heap;
  return search->owned_until > page || undead_free_chunks_in(&search->free, page)
    || (page - heap->low < heap->high - heap->low && undead_heap_page(heap, page));
}

// Where the recorded block or free chunk that starts at `at` (or, if it is the first place looked at, covers it) ends,
// and the next chunk's memory begins; 0 if there is none.
static uintptr_t end_of_owned(undead_root_search *search, uintptr_t at, bool first) {
  uintptr_t end = undead_free_chunk_end(&search->free, at), block = 0;
  if (!end && first) block = undead_heap_resolve(search->heap, at);
  else if (!end && undead_heap_starts(search->heap, at)) block = at;
  // The last 8 bytes of a block lie in the next chunk, whose size follows them.
  if (block) end = (block + undead_block_size(block) + 15) & ~(uintptr_t)15;
  if (end > search->owned_until) search->owned_until = end;
  return end > at ? end : 0;
}

// What lies between the recorded blocks and the free chunks belongs to somebody.
static void add_between(undead_root_search *search, uintptr_t low, uintptr_t high) {
  uintptr_t from = low > search->owned_until ? low : search->owned_until, first = from;
  for (uintptr_t at = from; at < high;) {
    uintptr_t end = end_of_owned(search, at, at == first);
    if (!end && (at += 16) < high) continue;
    undead_root_add(search, from, at < high ? at : high, UNDEAD_ROOT_GLOBAL, 0);
    if (end) from = at = end;
  }
}

static void visit_root_page(undead_root_search *search, const undead_mapping *mapping, uintptr_t page) {
  (void)mapping;
  uintptr_t low = page > search->part.low ? page : search->part.low;
  uintptr_t high = page + PAGE < search->part.high ? page + PAGE : search->part.high;
  if (is_of_malloc(search, page)) add_between(search, low, high);
  else undead_root_add(search, low, high, UNDEAD_ROOT_GLOBAL, 0);
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
  *roots = (undead_roots){.capacity = FIRST_ROOTS};
  roots->roots = undead_map(FIRST_ROOTS * sizeof *roots->roots);
  search.pages = undead_map(PIECE_PAGES * sizeof *search.pages);
  bool ok = roots->roots && search.pages && undead_intervals_open(&search.excluded, EXCLUDED_CAPACITY);
  if (ok) {
    search.pagemap = undead_raw4(SYS_openat, AT_FDCWD, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    undead_roots_add_threads(&search);
    exclude_known(&search);
    ok = undead_free_chunks_open(&search.free, heap, world, &search.excluded);
    undead_intervals_sort(&search.excluded);
    add_mappings(&search);
    if (search.pagemap >= 0) undead_raw3(SYS_close, search.pagemap, 0, 0);
    ok = ok && !roots->overflow && !search.excluded.overflow;
  }
  undead_free_chunks_close(&search.free);
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
