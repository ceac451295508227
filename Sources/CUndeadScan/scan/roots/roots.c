#include "scan/roots/roots.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "record/allocator.h"
#include "record/other_memory.h"
#include "scan/roots/roots_internal.h"
#include "world/images.h"
#include "world/intervals.h"
#include "world/proc_ids.h"
#include <string.h>

#define FIRST_ROOTS (1u << 20)
#define EXCLUDED_CAPACITY (1u << 18)
#define AHEAD 4096u   // what the processor does not fetch by itself: the next page

static void push_root(undead_roots *roots, undead_root root) {
  if (root.low >= root.high) return;
  undead_root *last = roots->count ? &roots->roots[roots->count - 1] : NULL;
  if (last && last->high == root.low && last->kind == root.kind && last->tid == root.tid && last->shift == root.shift) {
    last->high = root.high;
    return;
  }
  if (roots->count == roots->capacity && !undead_grow(roots->roots, roots->capacity, FIRST_ROOTS)) roots->overflow = true;
  else roots->roots[roots->count++] = root;
}

void undead_root_add(undead_root_search *search, uintptr_t low, uintptr_t high, undead_root_kind kind, int32_t tid) {
  low = (low + 7) & ~(uintptr_t)7;
  high &= ~(uintptr_t)7;
  push_root(search->roots, (undead_root){low, high, 0, tid, (uint8_t)kind});
}

static void exclude_own(undead_root_search *search) {
  uintptr_t low, high;
  for (size_t i = 0; undead_owned_range(i, &low, &high); i++) undead_intervals_add(&search->excluded, low, high);
  for (size_t i = 0; undead_own_variables(i, &low, &high); i++)
    undead_intervals_add(&search->excluded, (low + 7) & ~(uintptr_t)7, high & ~(uintptr_t)7);
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
  if (block) end = (block + undead_heap_block_size(search->heap, block) + 15) & ~(uintptr_t)15;
  if (end > search->owned_until) search->owned_until = end;
  return end > at ? end : 0;
}

// What lies between the recorded blocks and the free chunks belongs to somebody.
static void add_between(undead_root_search *search, uintptr_t low, uintptr_t high) {
  uintptr_t from = low > search->owned_until ? low : search->owned_until, first = from;
  for (uintptr_t at = from; at < high;) {
    __builtin_prefetch((const void *)(at + AHEAD));
    uintptr_t end = end_of_owned(search, at, at == first);
    if (!end && (at += 16) < high) continue;
    // Mostly there is nothing.
    if (from < at) undead_root_add(search, from, at < high ? at : high, UNDEAD_ROOT_GLOBAL, 0);
    if (end) from = at = end;
  }
}

bool undead_roots_push_copy(undead_roots *roots, undead_interval run) {
  bool complete = true;
  for (uintptr_t at = run.low; at < run.high && !roots->copies.no_memory;) {
    size_t size = 0;
    uintptr_t copy = undead_copies_take(&roots->copies, at, run.high, &size);
    if (copy) push_root(roots, (undead_root){copy, copy + size, at - copy, 0, UNDEAD_ROOT_GLOBAL});
    at += undead_page_of(size);
    if (at >= run.high) break;
    at += UNDEAD_PAGE;   // it cannot be read: a guard, for one
    complete = false;
  }
  return complete;
}

static void visit_run(void *context, const undead_mapping *mapping, undead_interval run) {
  undead_root_search *search = context;
  if (!mapping->readable) {
    undead_roots_push_copy(search->roots, run);
    return;
  }
  if (run.low < search->part.low) run.low = search->part.low;
  if (run.high > search->part.high) run.high = search->part.high;
  for (uintptr_t at = run.low, next; at < run.high; at = next) {
    next = undead_page_of(at) + UNDEAD_PAGE < run.high ? undead_page_of(at) + UNDEAD_PAGE : run.high;
    if (search->knows_other && undead_other_memory_holds(at)) continue;
    if (is_of_malloc(search, undead_page_of(at))) add_between(search, at, next);
    else undead_root_add(search, at, next, UNDEAD_ROOT_GLOBAL, 0);
  }
}

static void add_mapping(undead_root_search *search, const undead_mapping *mapping) {
  for (uintptr_t at = mapping->low, next; at < mapping->high; at = next) {
    uintptr_t end = undead_intervals_skip(&search->excluded, at, &next);
    if (end) {
      next = end;
      continue;
    }
    if (next > mapping->high) next = mapping->high;
    search->part = (undead_interval){at, next};
    undead_pages_each(&search->pages, mapping, at, next, visit_run, search);
  }
}

typedef struct {
  uintptr_t *list;
  uint64_t count, capacity;
} inherited_blocks;

static bool note_inherited(void *context, uintptr_t block, uint32_t *word) {
  inherited_blocks *blocks = context;
  if (*word & UNDEAD_WORD_OWN) return true;
  if (blocks->list) blocks->list[blocks->count] = block;
  blocks->count++;
  return !blocks->list || blocks->count < blocks->capacity;
}

// In the child of a process with several threads: the blocks that it has from there.
static void add_inherited(undead_root_search *search) {
  if (!undead_registry_own_bit) return;
  inherited_blocks blocks = {0};
  undead_heap_each(search->heap, note_inherited, &blocks);
  blocks.capacity = blocks.count;
  if (!blocks.count) return;
  blocks.list = (uintptr_t *)undead_copies_room(&search->roots->copies, blocks.capacity * sizeof *blocks.list);
  blocks.count = 0;
  if (blocks.list) undead_heap_each(search->heap, note_inherited, &blocks);
  undead_root_add(search, (uintptr_t)blocks.list, (uintptr_t)(blocks.list + blocks.count), UNDEAD_ROOT_GLOBAL, 0);
}

static void add_unrecorded_block(void *search, uintptr_t block) {
  undead_root_add(search, block, block + undead_block_size(block), UNDEAD_ROOT_GLOBAL, 0);
}

// Another allocator than glibc's: where all of its blocks are known, nothing else in its memory is anybody's, and its
// variables name free memory.
static void look_at_other_allocator(undead_root_search *search) {
  search->knows_other =
      undead_allocator_is_other() && undead_other_memory_is_known() && !search->options->unknown_blocks;
  uintptr_t low, high;
  for (size_t i = 0; search->knows_other && undead_other_memory_image(i, &low, &high); i++)
    undead_intervals_add(&search->excluded, low, high);
  if (search->knows_other) undead_other_memory_each(add_unrecorded_block, search);
}

static void add_mappings(undead_root_search *search) {
  for (size_t i = 0; i < undead_mapping_count(); i++)
    if (!undead_mapping_at(i)->taken) add_mapping(search, undead_mapping_at(i));
}

bool undead_roots_open(undead_roots *roots) {
  *roots = (undead_roots){.capacity = FIRST_ROOTS};
  roots->roots = undead_map(FIRST_ROOTS * sizeof *roots->roots);
  return roots->roots != NULL;
}

bool undead_roots_add_held(undead_roots *roots, const undead_world *world) {
  undead_root_search search = {.roots = roots};
  undead_interval held = undead_kernel_held_words(&roots->copies, world, &roots->unseen);
  undead_root_add(&search, held.low, held.high, UNDEAD_ROOT_GLOBAL, 0);
  return !roots->overflow && !roots->copies.no_memory;
}

bool undead_roots_find(undead_roots *roots, const undead_world *world, const undead_heap *heap,
                       const undead_stale *stale, const undead_scan_options *options, undead_roots_of_stacks *add_stacks) {
  undead_root_search search = {.roots = roots, .world = world, .heap = heap, .stale = stale, .options = options};
  bool ok = undead_pages_open(&search.pages, undead_proc_process())
    && undead_intervals_open(&search.excluded, EXCLUDED_CAPACITY);
  if (ok) {
    add_stacks(&search);
    exclude_own(&search);
    look_at_other_allocator(&search);
    ok = undead_free_chunks_open(&search.free, heap, world, &search.excluded, options->graph);
    undead_intervals_sort(&search.excluded);
    add_mappings(&search);
    add_inherited(&search);
    ok = ok && !roots->overflow && !search.excluded.overflow && !roots->copies.no_memory;
  }
  undead_copies_end(&roots->copies);
  undead_free_chunks_close(&search.free);
  undead_intervals_close(&search.excluded);
  undead_pages_close(&search.pages);
  return ok;
}

void undead_roots_close(undead_roots *roots) {
  if (roots->roots) undead_unmap(roots->roots, roots->capacity * sizeof *roots->roots);
  undead_copies_close(&roots->copies);
  *roots = (undead_roots){0};
}
