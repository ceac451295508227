#include "scan/counts/counts.h"
#include "platform/memory/sort.h"
#include "scan/blocks/heap.h"

enum { WHY_BITS = 15 };

void undead_certainty_add(undead_worklist *reasons, const undead_tally *tally) {
  for (uint32_t i = 0; i < tally->count; i++) {
    const undead_tallied *tallied = &tally->blocks[i];
    if (!(*undead_heap_word(tally->heap, tallied->block) & UNDEAD_WORD_MARK))
      undead_worklist_push(reasons, tallied->block | UNDEAD_WHY_COUNTS | tallied->why);
  }
}

static undead_node *node_of_block(const undead_scan_result *result, uintptr_t block) {
  size_t place = undead_place_of(result->nodes, result->node_count, sizeof *result->nodes, block);
  return place < result->node_count ? &result->nodes[place] : NULL;
}

void undead_certainty_note(undead_storage *storage, undead_worklist *reasons) {
  for (uintptr_t reason; (reason = undead_worklist_pop(reasons));) {
    undead_node *node = node_of_block(&storage->result, reason & ~(uintptr_t)WHY_BITS);
    if (!node) continue;
    node->flags |= UNDEAD_NODE_BY_COUNTS;
    if (reason & UNDEAD_WHY_NUMBER) node->flags |= UNDEAD_NODE_NAMED_BY_NUMBER;
    if (reason & UNDEAD_WHY_PLACE) node->flags |= UNDEAD_NODE_NAMED_BY_PLACE;
  }
}
