// From any word to the live block that it points into. Only valid while the world is stopped (or in a copy of it).
#pragma once
#include "platform/processor/processor.h"
#include "platform/processor/words.h"
#include "record/registry.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bits of a registry word that only a scan uses; 0 outside of one.
#define UNDEAD_WORD_MARK_AGAIN 0x40000000u   // reached in a second pass
#define UNDEAD_WORD_SPECIAL 0x20000000u      // fires or waits, or belongs to something that does
#define UNDEAD_WORD_OWNED 0x10000000u        // C block that libdispatch's globals reach
#define UNDEAD_WORD_SCAN_BITS \
  (UNDEAD_WORD_MARK | UNDEAD_WORD_MARK_AGAIN | UNDEAD_WORD_SPECIAL | UNDEAD_WORD_OWNED)

// Swift keeps tags of enums and existentials in the top byte and the low three bits of a reference.
#define UNDEAD_POINTER_MASK UNDEAD_REFERENCE_BITS

#define UNDEAD_PAGE_SHIFT 12
#define UNDEAD_LEAF_PAGES (1u << (UNDEAD_LEAF_SHIFT - UNDEAD_PAGE_SHIFT))

typedef struct {
  undead_leaf *leaf;   // NULL if no block starts here
  uintptr_t *cover;    // for each page the block that reaches into it from before, 0 if none; NULL if no block is near
} undead_region;

// Pages of a block that nobody has written: zeros (scan/view/holes.h).
typedef struct {
  uintptr_t low, high;
} undead_hole;

#define UNDEAD_LARGE_BLOCK (16u << 20)   // holes are looked for in blocks from this size on
#define UNDEAD_MOST_LARGE 64u            // of these; others are read whole

typedef struct {
  undead_region *regions;   // for each leaf of the address space
  uint32_t *used;           // indices of regions in use, ascending
  uint32_t used_count, used_capacity;
  uintptr_t *covers;        // all `cover` tables, linked by the word behind their last
  uintptr_t low, high;      // all blocks lie between, and the words right before and behind them
  uintptr_t pointer_guard;  // what the C library hides addresses in jump buffers with
  uint64_t areas[(1u << 16) / 64];   // bit k: blocks lie between k and k + 1 times 4 GiB
  uintptr_t large[UNDEAD_MOST_LARGE];
  uint32_t large_count;
  undead_hole *holes;       // ascending in each large block, and these too
  uint32_t hole_count, hole_capacity;
  bool glibc;               // blocks are chunks of glibc's, or look like these
} undead_heap;

// Builds the index from the registry; needs the memory map. False without memory.
bool undead_heap_open(undead_heap *heap);
// Only where blocks start: undead_heap_starts, undead_heap_word and undead_heap_each, and nothing else.
bool undead_heap_open_starts(undead_heap *heap);
// The same while the program runs, without the memory map.
bool undead_heap_open_registered(undead_heap *heap);
void undead_heap_close(undead_heap *heap);

// The same as undead_block_size, without a call for what malloc_usable_size() does with chunks in use that are no mappings of
// their own (musable in malloc/malloc.c): it takes the word off that belongs to the next chunk.
static inline size_t undead_heap_block_size(const undead_heap *heap, uintptr_t block) {
  enum { MAPPED = 2, FLAGS = 7, IN_USE = 1 };
  uintptr_t head = word_at(block - 8), size = (head & ~(uintptr_t)FLAGS) - 8;
  if (!heap->glibc || head & MAPPED || size >= (1ull << UNDEAD_ADDRESS_BITS) - block || !(word_at(block + size) & IN_USE))
    return undead_block_size(block);
  return size;
}

// Asks for the lines of a block that are read first, which are seldom in the cache: its first words, and the chunk header before.
static inline void undead_heap_ask_for_head(uintptr_t block) {
  __builtin_prefetch((const void *)(block - 16));
  __builtin_prefetch((const void *)(block + 48));
}

// The same for the lines behind, when the header has come: for more of a large block the processor asks by itself. The size is
// checked in the next chunk's header.
static inline void undead_heap_ask_for_body(const undead_heap *heap, uintptr_t block) {
  enum { LINE = 64, FIRST = 112, LINES = 6, MOST = 1 << 16 };
  if (!heap->glibc) return;
  uintptr_t size = word_at(block - 8) & ~(uintptr_t)7;
  if (size <= LINE || size > MOST) return;
  __builtin_prefetch((const void *)(block + size - 8));
  for (uintptr_t at = FIRST; at < size && at < FIRST + LINES * LINE; at += LINE) __builtin_prefetch((const void *)(block + at));
}

uintptr_t undead_heap_search(const undead_heap *heap, uintptr_t address);

static inline bool undead_heap_may_hold(const undead_heap *heap, uintptr_t address) {
  if (address - heap->low >= heap->high - heap->low) return false;
  const undead_region *region = &heap->regions[address >> UNDEAD_LEAF_SHIFT];
  return region->leaf || region->cover;
}

// The same for what may be any number: one bit tells of most that it is none. The table of regions is long, so numbers would read
// a thousand of its pages for the first time, each at the price of a page fault.
static inline bool undead_heap_might_hold(const undead_heap *heap, uintptr_t address) {
  if (address - heap->low >= heap->high - heap->low) return false;
  return heap->areas[address >> 38] >> (address >> 32 & 63) & 1 && undead_heap_may_hold(heap, address);
}

// The live block that `address` (unmasked, inside the heap's range) points into, 0 if none.
static inline uintptr_t undead_heap_block(const undead_heap *heap, uintptr_t address) {
  const undead_leaf *leaf = heap->regions[address >> UNDEAD_LEAF_SHIFT].leaf;
  if (leaf && leaf->word[(address >> 4) & (UNDEAD_LEAF_GRANULES - 1)]) return address & ~(uintptr_t)15;
  return undead_heap_search(heap, address);
}

// The same for any word, after the mask.
static inline uintptr_t undead_heap_resolve(const undead_heap *heap, uintptr_t word) {
  word &= UNDEAD_POINTER_MASK;
  return undead_heap_may_hold(heap, word) ? undead_heap_block(heap, word) : 0;
}

static inline uint32_t *undead_heap_word(const undead_heap *heap, uintptr_t block) {
  return &heap->regions[block >> UNDEAD_LEAF_SHIFT].leaf->word[(block >> 4) & (UNDEAD_LEAF_GRANULES - 1)];
}

// Sets bits in the word of a block while other threads may do so, too.
static inline void undead_heap_set(const undead_heap *heap, uintptr_t block, uint32_t bits) {
  __atomic_fetch_or(undead_heap_word(heap, block), bits, __ATOMIC_RELAXED);
}

static inline bool undead_heap_starts(const undead_heap *heap, uintptr_t address) {
  return (address & 15) == 0 && undead_heap_may_hold(heap, address) && heap->regions[address >> UNDEAD_LEAF_SHIFT].leaf
    && *undead_heap_word(heap, address) != 0;
}

// True if the page of `address` holds a part of a live block.
bool undead_heap_page(const undead_heap *heap, uintptr_t address);

// Calls `visit` for each live block in address order until it returns false. `word` may be changed.
typedef bool (*undead_heap_visitor)(void *context, uintptr_t block, uint32_t *word);
void undead_heap_each(const undead_heap *heap, undead_heap_visitor visit, void *context);
// The same for visitors that mostly read only what a block begins with, and never want to end.
void undead_heap_each_head(const undead_heap *heap, undead_heap_visitor visit, void *context);
// The same in parts that follow each other, for threads that work together. False if `visit` did not want more.
uint32_t undead_heap_part_count(const undead_heap *heap);
bool undead_heap_each_in_part(const undead_heap *heap, uint32_t part, undead_heap_visitor visit, void *context);
// The same for the blocks whose word has no UNDEAD_WORD_MARK.
void undead_heap_each_unmarked(const undead_heap *heap, undead_heap_visitor visit, void *context);
// Clears these bits of all words.
void undead_heap_clear(const undead_heap *heap, uint32_t bits);
