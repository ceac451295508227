// The number of a block in address order. Only while the blocks stay as they are.
#pragma once
#include "scan/blocks/heap.h"

#define UNDEAD_RANK_GROUP_SHIFT 10   // a group of 64 granules

typedef struct {
  uint64_t blocks;   // bit k: a block starts at the k-th granule of the group
  uint32_t before;   // blocks that start before the group
} undead_rank_group;

typedef struct {
  undead_rank_group **leaves;   // by leaf of the address space; NULL where no block starts
  uint32_t count;               // of all blocks
  bool failed;
} undead_ranks;

// False without memory.
bool undead_ranks_open(undead_ranks *ranks, const undead_heap *heap);
void undead_ranks_close(undead_ranks *ranks);

// Of a block that is in the heap.
static inline uint32_t undead_rank_of(const undead_ranks *ranks, uintptr_t block) {
  const undead_rank_group *leaf = ranks->leaves[block >> UNDEAD_LEAF_SHIFT];
  const undead_rank_group *group = &leaf[(block & ((1ull << UNDEAD_LEAF_SHIFT) - 1)) >> UNDEAD_RANK_GROUP_SHIFT];
  return group->before + (uint32_t)__builtin_popcountll(group->blocks & ((1ull << (block >> 4 & 63)) - 1));
}
