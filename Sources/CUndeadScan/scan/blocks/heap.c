#include "scan/blocks/heap.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/processor/processor.h"
#include "platform/system/read_text.h"
#include "record/allocator.h"
#include "scan/blocks/words.h"
#include <assert.h>
#include <gnu/libc-version.h>
#include <stdlib.h>

#define FIRST_USED 4096u   // leaves, of those in use
#define GROUPS (UNDEAD_LEAF_GRANULES >> UNDEAD_TOUCH_SHIFT)
#define GROUP_GRANULES (1u << UNDEAD_TOUCH_SHIFT)
#define PAGE_GRANULES (1u << (UNDEAD_PAGE_SHIFT - 4))
#define LEAF_BYTES (1ull << UNDEAD_LEAF_SHIFT)
#define PAGE_BYTES (1ull << UNDEAD_PAGE_SHIFT)
#define COVER_BYTES ((UNDEAD_LEAF_PAGES + 1) * sizeof(uintptr_t))

// The versions whose chunks were looked at (glibc/layout.h).
static bool is_glibc_known(void) {
  const char *version = gnu_get_libc_version();
  int minor = version[0] == '2' && version[1] == '.' ? (int)undead_read_number(version + 2, 10, NULL) : 0;
  return minor >= 26 && minor <= 43 && !undead_allocator_is_other();
}

// Blocks lie there, or reach into it.
static void note_area(undead_heap *heap, uintptr_t address) {
  heap->areas[address >> 38] |= 1ull << (address >> 32 & 63);
}

// Looks only where memory is mapped: the table of all leaves is too large to be read.
static bool list_leaves(undead_heap *heap) {
  uintptr_t next = 0;
  for (size_t i = 0; i < undead_mapping_count(); i++) {
    const undead_mapping *mapping = undead_mapping_at(i);
    uintptr_t index = mapping->low >> UNDEAD_LEAF_SHIFT, last = (mapping->high - 1) >> UNDEAD_LEAF_SHIFT;
    for (index = index > next ? index : next; index <= last && index < UNDEAD_LEAF_COUNT; index++) {
      next = index + 1;
      undead_leaf *leaf = undead_leaves[index];
      if (!leaf) continue;
      if (heap->used_count == heap->used_capacity && !undead_grow(heap->used, heap->used_capacity, FIRST_USED)) return false;
      heap->regions[index].leaf = leaf;
      note_area(heap, index << UNDEAD_LEAF_SHIFT);
      heap->used[heap->used_count++] = (uint32_t)index;
    }
  }
  return true;
}

static uintptr_t *add_cover(undead_heap *heap, uintptr_t page) {
  uintptr_t *cover = undead_map(COVER_BYTES);
  if (!cover) return NULL;
  note_area(heap, page);
  cover[UNDEAD_LEAF_PAGES] = (uintptr_t)heap->covers;
  return heap->covers = cover;
}

static uintptr_t *cover_at(undead_heap *heap, uintptr_t page) {
  undead_region *region = &heap->regions[page >> UNDEAD_LEAF_SHIFT];
  if (!region->cover) region->cover = add_cover(heap, page);
  return region->cover ? &region->cover[(page >> UNDEAD_PAGE_SHIFT) & (UNDEAD_LEAF_PAGES - 1)] : NULL;
}

static bool cover_pages(undead_heap *heap, uintptr_t block) {
  uintptr_t end = block + undead_heap_block_size(heap, block), page = (block | (PAGE_BYTES - 1)) + 1;
  if (end >= heap->high) heap->high = end + sizeof(uintptr_t);
  if (end - block >= UNDEAD_LARGE_BLOCK && heap->large_count < UNDEAD_MOST_LARGE) heap->large[heap->large_count++] = block;
  for (uintptr_t *cover; page < end; page += PAGE_BYTES) {
    if (!(cover = cover_at(heap, page))) return false;
    *cover = block;
  }
  return page != end || heap->regions[end >> UNDEAD_LEAF_SHIFT].leaf || cover_at(heap, end);
}

// The first granule behind the last one of a page where a block starts; the page's own if none does.
static uint64_t behind_last_start(const undead_leaf *leaf, uint64_t page) {
  for (uint64_t first = page + PAGE_GRANULES; first > page;) {
    uint32_t used = undead_used_words(&leaf->word[first -= UNDEAD_WORDS_AT_ONCE]);
    if (used) return first + 32 - (uint64_t)__builtin_clz(used);
  }
  return page;
}

// Only the last block that starts in a page can reach into the next one. Right before and right behind a block are addresses,
// too (mark_beside), and may lie in a region that has no block.
static bool index_leaf(undead_heap *heap, uint32_t index) {
  const undead_leaf *leaf = heap->regions[index].leaf;
  uintptr_t base = (uintptr_t)index << UNDEAD_LEAF_SHIFT;
  if (leaf->word[0] && !cover_at(heap, base - PAGE_BYTES)) return false;
  for (uint64_t group = 0; group < GROUPS; group++) {
    if (!leaf->touched[group]) continue;
    for (uint64_t page = group * GROUP_GRANULES; page < (group + 1) * GROUP_GRANULES; page += PAGE_GRANULES) {
      uint64_t granule = behind_last_start(leaf, page);
      if (granule == page) continue;
      uintptr_t block = base + ((granule - 1) << 4);
      if (block < heap->low) heap->low = base + (page << 4) - sizeof(uintptr_t);
      if (!cover_pages(heap, block)) return false;
    }
  }
  return true;
}

bool undead_heap_open(undead_heap *heap) {
  *heap = (undead_heap){.low = UINTPTR_MAX, .pointer_guard = undead_pointer_guard(),
                        .glibc = is_glibc_known()};
  heap->regions = undead_map(UNDEAD_LEAF_COUNT * sizeof *heap->regions);
  bool ok = heap->regions && list_leaves(heap);
  for (uint32_t i = 0; ok && i < heap->used_count; i++) ok = index_leaf(heap, heap->used[i]);
  if (heap->low > heap->high) heap->low = heap->high;
  if (!ok) undead_heap_close(heap);
  return ok;
}

bool undead_heap_open_starts(undead_heap *heap) {
  *heap = (undead_heap){.high = UNDEAD_LEAF_COUNT << UNDEAD_LEAF_SHIFT, .glibc = is_glibc_known()};
  heap->regions = undead_map(UNDEAD_LEAF_COUNT * sizeof *heap->regions);
  bool ok = heap->regions && list_leaves(heap);
  if (!ok) undead_heap_close(heap);
  return ok;
}

static void add_leaf(void *context, undead_leaf *leaf, uintptr_t base) {
  undead_heap *heap = context;
  heap->regions[base >> UNDEAD_LEAF_SHIFT].leaf = leaf;
  note_area(heap, base);
  if (base < heap->low) heap->low = base;
  heap->high = base + LEAF_BYTES;
}

bool undead_heap_open_registered(undead_heap *heap) {
  *heap = (undead_heap){.low = UINTPTR_MAX, .glibc = is_glibc_known()};
  heap->regions = undead_map(UNDEAD_LEAF_COUNT * sizeof *heap->regions);
  if (!heap->regions) return false;
  undead_registry_each_leaf(add_leaf, heap);
  if (heap->low > heap->high) heap->low = heap->high;
  return true;
}

void undead_heap_close(undead_heap *heap) {
  for (uintptr_t *cover = heap->covers, *next; cover; cover = next) {
    next = (uintptr_t *)cover[UNDEAD_LEAF_PAGES];
    undead_unmap(cover, COVER_BYTES);
  }
  if (heap->regions) undead_unmap(heap->regions, UNDEAD_LEAF_COUNT * sizeof *heap->regions);
  if (heap->used) undead_unmap(heap->used, heap->used_capacity * sizeof *heap->used);
  if (heap->holes) undead_unmap(heap->holes, heap->hole_capacity * sizeof *heap->holes);
  *heap = (undead_heap){0};
}

uintptr_t undead_heap_search(const undead_heap *heap, uintptr_t address) {
  const undead_region *region = &heap->regions[address >> UNDEAD_LEAF_SHIFT];
  if (region->leaf) {
    uint64_t granule = (address >> 4) & (UNDEAD_LEAF_GRANULES - 1);
    uint64_t page = granule & ~(uint64_t)(PAGE_GRANULES - 1), first = granule & ~(uint64_t)(UNDEAD_WORDS_AT_ONCE - 1);
    // Bits of the words up to that of the address, then all bits of each group below.
    uint32_t found = undead_used_words(&region->leaf->word[first]) & (2u << (granule - first)) - 1;
    while (!found && first > page) found = undead_used_words(&region->leaf->word[first -= UNDEAD_WORDS_AT_ONCE]);
    if (found) {
      uintptr_t block = (address & ~(LEAF_BYTES - 1)) + ((first + 31 - (uint64_t)__builtin_clz(found)) << 4);
      return address < block + undead_heap_block_size(heap, block) ? block : 0;
    }
  }
  uintptr_t block = region->cover ? region->cover[(address >> UNDEAD_PAGE_SHIFT) & (UNDEAD_LEAF_PAGES - 1)] : 0;
  return block && address < block + undead_heap_block_size(heap, block) ? block : 0;
}

bool undead_heap_page(const undead_heap *heap, uintptr_t address) {
  const undead_region *region = &heap->regions[address >> UNDEAD_LEAF_SHIFT];
  if (region->cover && region->cover[(address >> UNDEAD_PAGE_SHIFT) & (UNDEAD_LEAF_PAGES - 1)]) return true;
  if (!region->leaf) return false;
  uint64_t granule = (address >> 4) & (UNDEAD_LEAF_GRANULES - 1) & ~(uint64_t)(PAGE_GRANULES - 1);
  if (!region->leaf->touched[granule >> UNDEAD_TOUCH_SHIFT]) return false;
  for (uint64_t i = granule; i < granule + PAGE_GRANULES; i++)
    if (region->leaf->word[i]) return true;
  return false;
}

// In a copy of the program the first access to each page is slow, as it has to be noted in the page table: so it is made
// beforehand, and not waited for.
#define GROUPS_AHEAD 4u
#define PARTS_OF_REGION 16u   // of 4 MiB each

static inline void prefetch_group(const undead_leaf *leaf, uintptr_t base, uint64_t group) {
  uintptr_t blocks = base + group * (GROUP_GRANULES << 4);
  __builtin_prefetch(&leaf->word[group * GROUP_GRANULES % UNDEAD_LEAF_GRANULES]);
  for (uintptr_t page = 0; page < GROUP_GRANULES << 4; page += PAGE_BYTES) __builtin_prefetch((const void *)(blocks + page));
}

// In the groups from `from` up to `to` of a region. False if `visit` wants no more.
static inline __attribute__((always_inline)) bool each_in(const undead_heap *heap, uint32_t region, uint64_t from, uint64_t to,
                                                          bool unmarked, undead_heap_visitor visit, void *context) {
  undead_leaf *leaf = heap->regions[region].leaf;
  uintptr_t base = (uintptr_t)region << UNDEAD_LEAF_SHIFT;
  for (uint64_t group = from; group < to; group++) {
    if (!leaf->touched[group]) continue;
    prefetch_group(leaf, base, group + GROUPS_AHEAD);
    uint64_t end = (group + 1) * GROUP_GRANULES;
    for (uint64_t first = group * GROUP_GRANULES; first < end; first += UNDEAD_WORDS_AT_ONCE) {
      uint32_t *words = &leaf->word[first], found = unmarked ? undead_positive_words(words) : undead_used_words(words);
      for (; found; found &= found - 1) {
        uint64_t granule = first + (uint64_t)__builtin_ctz(found);
        if (!visit(context, base + (granule << 4), &leaf->word[granule])) return false;
      }
    }
  }
  return true;
}

static inline __attribute__((always_inline)) void each(const undead_heap *heap, bool unmarked, undead_heap_visitor visit,
                                                       void *context) {
  for (uint32_t i = 0; i < heap->used_count; i++)
    if (!each_in(heap, heap->used[i], 0, GROUPS, unmarked, visit, context)) return;
}

uint32_t undead_heap_part_count(const undead_heap *heap) { return heap->used_count * PARTS_OF_REGION; }

// Blocks between the search for starts and the visitor: what it reads first is asked for while others are visited.
#define BLOCKS_AHEAD 8u   // a power of two

typedef struct {
  const undead_heap *heap;
  undead_heap_visitor visit;
  void *context;
  struct {
    uintptr_t block;
    uint32_t *word;
  } ring[BLOCKS_AHEAD];
  uint32_t first, end;
  bool heads;   // nothing but what blocks begin with is read
} delayed_visits;

static inline bool visit_oldest(delayed_visits *self) {
  uint32_t at = self->first++ % BLOCKS_AHEAD;
  return self->visit(self->context, self->ring[at].block, self->ring[at].word);
}

static bool delay_visit(void *context, uintptr_t block, uint32_t *word) {
  delayed_visits *self = context;
  if (self->end - self->first == BLOCKS_AHEAD && !visit_oldest(self)) return false;
  undead_heap_ask_for_head(block);
  if (!self->heads && self->end - self->first >= BLOCKS_AHEAD / 2)
    undead_heap_ask_for_body(self->heap, self->ring[(self->end - BLOCKS_AHEAD / 2) % BLOCKS_AHEAD].block);
  self->ring[self->end % BLOCKS_AHEAD].block = block;
  self->ring[self->end++ % BLOCKS_AHEAD].word = word;
  return true;
}

static bool visit_rest(delayed_visits *visits) {
  while (visits->first != visits->end)
    if (!visit_oldest(visits)) return false;
  return true;
}

bool undead_heap_each_in_part(const undead_heap *heap, uint32_t part, undead_heap_visitor visit, void *context) {
  uint64_t first = part % PARTS_OF_REGION * (GROUPS / PARTS_OF_REGION);
  delayed_visits visits = {.heap = heap, .visit = visit, .context = context};
  return each_in(heap, heap->used[part / PARTS_OF_REGION], first, first + GROUPS / PARTS_OF_REGION, false, delay_visit, &visits)
    && visit_rest(&visits);
}

void undead_heap_each_head(const undead_heap *heap, undead_heap_visitor visit, void *context) {
  delayed_visits visits = {.heap = heap, .visit = visit, .context = context, .heads = true};
  each(heap, false, delay_visit, &visits);
  visit_rest(&visits);
}

void undead_heap_each(const undead_heap *heap, undead_heap_visitor visit, void *context) {
  each(heap, false, visit, context);
}

_Static_assert(UNDEAD_WORD_MARK == 1u << 31, "the sign");

void undead_heap_each_unmarked(const undead_heap *heap, undead_heap_visitor visit, void *context) {
  each(heap, true, visit, context);
}

void undead_heap_clear(const undead_heap *heap, uint32_t bits) {
  for (uint32_t i = 0; i < heap->used_count; i++) {
    undead_leaf *leaf = heap->regions[heap->used[i]].leaf;
    for (uint64_t group = 0; group < GROUPS; group++) {
      if (!leaf->touched[group]) continue;
      uint64_t *pair = (uint64_t *)&leaf->word[group * GROUP_GRANULES];
      uint64_t mask = ~((uint64_t)bits << 32 | bits);
      for (uint64_t k = 0; k < GROUP_GRANULES / 2; k++)
        if (pair[k]) pair[k] &= mask;
    }
  }
}
