// The table of live blocks: one 32-bit word for each 16-byte granule of the address space.
#pragma once
#include "platform/processor/processor.h"
#include "unwind/backtrace.h"

#pragma GCC visibility push(hidden)

// A word that is not 0 stands at the granule where a live block starts.
// Bits 0-26: backtrace id (1 = "live, no backtrace", or an empty one: undead_backtrace_none). Bits 28-31: the scan's (scan/blocks/heap.h), 0 outside of one.
#define UNDEAD_WORD_BACKTRACE 0x07FFFFFFu
#define UNDEAD_WORD_OWN 0x08000000u   // only where undead_registry_own_bit is set: not inherited from the parent process
#define UNDEAD_WORD_MARK 0x80000000u

#define UNDEAD_LEAF_SHIFT 26                                   // one leaf covers 64 MiB
#define UNDEAD_LEAF_GRANULES (1ull << (UNDEAD_LEAF_SHIFT - 4))  // words in a leaf
#define UNDEAD_LEAF_COUNT (1ull << (UNDEAD_ADDRESS_BITS - UNDEAD_LEAF_SHIFT))
#define UNDEAD_TOUCH_SHIFT 9                                   // one 'touched' byte for 512 granules

// A block came there since undead_registry_age was called, or before that and none since.
#define UNDEAD_TOUCHED_LATELY 1u
#define UNDEAD_TOUCHED_LONG_AGO 2u

typedef struct {
  uint32_t word[UNDEAD_LEAF_GRANULES];
  uint8_t touched[UNDEAD_LEAF_GRANULES >> UNDEAD_TOUCH_SHIFT];   // 0 where no block ever was
  uint8_t sparse[UNDEAD_LEAF_GRANULES >> 1];                     // while backtraces are sampled: record/sparse.h
  uint64_t lately[UNDEAD_LEAF_GRANULES >> UNDEAD_TOUCH_SHIFT];   // the next group of the list of those (record/blocks/recent.c)
} undead_leaf;

extern undead_leaf *undead_leaves[UNDEAD_LEAF_COUNT];

// The leaf that `address` belongs to, or NULL if nothing was ever allocated near it.
static inline undead_leaf *undead_registry_leaf(uintptr_t address) {
  uintptr_t index = address >> UNDEAD_LEAF_SHIFT;
  if (__builtin_expect(index >= UNDEAD_LEAF_COUNT, 0)) return NULL;
  return __atomic_load_n(&undead_leaves[index], __ATOMIC_ACQUIRE);
}

// The word of the granule that holds `address`, or NULL likewise.
static inline uint32_t *undead_registry_slot(uintptr_t address) {
  undead_leaf *leaf = undead_registry_leaf(address);
  return leaf ? &leaf->word[(address >> 4) & (UNDEAD_LEAF_GRANULES - 1)] : NULL;
}

// UNDEAD_WORD_OWN in a process that was forked from one with several threads: what those held in their registers nobody
// holds in the child, so that it can only tell what has become of the blocks that it allocated itself. Else 0.
extern uint32_t undead_registry_own_bit;
// From now on, in such a child. All blocks that there are count as inherited.
void undead_registry_inherit(void);

// Bytes that the program may use of the block at `block` (malloc_usable_size).
size_t undead_block_size(uintptr_t block);

// Calls `visit` for every live block, in address order, until it returns false. Reads no block memory itself.
typedef bool (*undead_block_visitor)(void *context, uintptr_t block, uint32_t *word);
void undead_registry_each(undead_block_visitor visit, void *context);

// The same for whole leaves.
typedef void (*undead_leaf_visitor)(void *context, undead_leaf *leaf, uintptr_t base);
void undead_registry_each_leaf(undead_leaf_visitor visit, void *context);

// True if a live block starts at `address`, however it is recorded.
bool undead_registry_knows(uintptr_t address);

// A block comes to `address`, in that leaf.
void undead_registry_touch(undead_leaf *leaf, uintptr_t address);

// From now on what was allocated until now is old. Not to be called while anybody needs undead_registry_each_recent.
void undead_registry_age(void);

// Like undead_registry_each, but in no order, for the groups of granules where blocks were allocated since then: all those blocks, and
// some old ones, but only such as have a backtrace from `first_id` on.
void undead_registry_each_recent(uint32_t first_id, undead_block_visitor visit, void *context);

// Where the allocator itself was asked which blocks there are: each is seen, in a stopped process, then all others are
// forgotten. One that was recorded keeps its backtrace.
void undead_registry_see(uintptr_t block);
void undead_registry_keep_seen(void);

// Forgets all blocks. Not while a thread is in a hook.
void undead_registry_clear(void);

// Creates the leaf for `address` if there is none, and returns it; NULL (counted) without memory.
undead_leaf *undead_registry_leaf_slow(uintptr_t address);

// Blocks that could not be registered because there was no memory for the table.
uint64_t undead_registry_dropped(void);

#pragma GCC visibility pop
