#include "scan/graph/graph_tables.h"
#include "platform/memory/memory.h"

#define LEAF_GROUPS (1ull << (UNDEAD_LEAF_SHIFT - UNDEAD_RANK_GROUP_SHIFT))
#define LEAF_BYTES (LEAF_GROUPS * sizeof(undead_rank_group))
#define TABLE_BYTES (UNDEAD_LEAF_COUNT * sizeof(undead_rank_group *))

static bool add_block(void *context, uintptr_t block, uint32_t *word) {
  (void)word;
  undead_ranks *ranks = context;
  undead_rank_group **leaf = &ranks->leaves[block >> UNDEAD_LEAF_SHIFT];
  if (!*leaf && !(*leaf = undead_map(LEAF_BYTES))) {
    ranks->failed = true;
    return false;
  }
  undead_rank_group *group = &(*leaf)[(block & ((1ull << UNDEAD_LEAF_SHIFT) - 1)) >> UNDEAD_RANK_GROUP_SHIFT];
  if (!group->blocks) group->before = ranks->count;
  group->blocks |= 1ull << (block >> 4 & 63);
  ranks->count++;
  return true;
}

bool undead_ranks_open(undead_ranks *ranks, const undead_heap *heap) {
  *ranks = (undead_ranks){.leaves = undead_map(TABLE_BYTES)};
  if (!ranks->leaves) return false;
  undead_heap_each(heap, add_block, ranks);
  return !ranks->failed;
}

void undead_ranks_close(undead_ranks *ranks) {
  if (!ranks->leaves) return;
  for (size_t i = 0; i < UNDEAD_LEAF_COUNT; i++)
    if (ranks->leaves[i]) undead_unmap(ranks->leaves[i], LEAF_BYTES);
  undead_unmap(ranks->leaves, TABLE_BYTES);
  *ranks = (undead_ranks){0};
}
