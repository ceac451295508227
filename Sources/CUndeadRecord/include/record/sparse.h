// The registry while backtraces are sampled: one byte for 32 bytes of address space, in place of a word for 16. Blocks of
// malloc lie at least 32 bytes apart, so no two of them begin in the same 32. A scan needs words: it makes them from the
// bytes, and takes them away again.
#pragma once
#include "record/registry.h"

#pragma GCC visibility push(hidden)

// What a byte that is not 0 says of the block that begins there.
#define UNDEAD_SPARSE_PLACE 3u        // 1: in the lower half of the 32 bytes, 2: in the upper one
#define UNDEAD_SPARSE_SAMPLED 4u      // its backtrace is known (sample_table.h)
#define UNDEAD_SPARSE_GENERATION_SHIFT 3
#define UNDEAD_SPARSE_GENERATIONS 16u   // later ones count as the last of these
#define UNDEAD_SPARSE_OWN 0x80u       // as UNDEAD_WORD_OWN

// What a new block's byte begins with, without its place.
extern uint8_t undead_sparse_new;
// A byte was ever written.
extern bool undead_sparse_used;
// There are words for all bytes.
extern bool undead_sparse_expanded;

static inline __attribute__((always_inline)) uint8_t *undead_sparse_at(undead_leaf *leaf, uintptr_t block) {
  return &leaf->sparse[(block >> 5) & ((UNDEAD_LEAF_GRANULES >> 1) - 1)];
}

static inline __attribute__((always_inline)) uint8_t undead_sparse_place(uintptr_t block) {
  return (uint8_t)((block >> 4 & 1) + 1);
}

static inline bool undead_sparse_holds(const undead_leaf *leaf, uintptr_t block) {
  return (*undead_sparse_at((undead_leaf *)leaf, block) & UNDEAD_SPARSE_PLACE) == undead_sparse_place(block);
}

static inline uintptr_t undead_sparse_block_at(uintptr_t base, uint64_t at, uint8_t byte) {
  return base + (at << 5) + ((uintptr_t)((byte & UNDEAD_SPARSE_PLACE) - 1) << 4);
}

// As many bytes as are read at once.
typedef uint64_t __attribute__((may_alias)) undead_sparse_eight;

// Calls `visit` for each block of a leaf, with a word that belongs to no other block, until it returns false.
bool undead_sparse_visit(const undead_leaf *leaf, uintptr_t base, undead_block_visitor visit, void *context);

// True if a block begins in these 512 granules.
bool undead_sparse_group_used(const undead_leaf *leaf, uint64_t group);

// Gives each block a word; the words of sampled blocks are what undead_sample_prepare found. Only while the world is
// stopped, or in a copy of it.
void undead_sparse_expand(void);
// Takes the words away again. To be called before the program runs on.
void undead_sparse_collapse(void);

// A generation has begun: new blocks belong to it.
void undead_sparse_note_generation(uint32_t number);

// The blocks of a leaf are the parent's (undead_registry_inherit).
void undead_sparse_inherit(undead_leaf *leaf);

#pragma GCC visibility pop
