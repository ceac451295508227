#include "scan/view/collect.h"
#include "platform/memory/memory.h"
#include "platform/memory/sort.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include <assert.h>

typedef struct {
  undead_storage *storage;
  undead_bodies *bodies;
  bool swift_only;       // the list would not hold everything
  bool full;
} sweep;

static bool is_counted(undead_kind kind) {
  return kind != UNDEAD_KIND_OTHER && kind != UNDEAD_KIND_SIDE_TABLE && kind != UNDEAD_KIND_TASK && kind != UNDEAD_KIND_JOB;
}

static uint32_t add_node(undead_storage *storage, const undead_heap *heap, uintptr_t block, size_t size,
                         undead_kind kind, undead_state state) {
  undead_scan_result *result = &storage->result;
  if (result->node_count == storage->node_limit) {
    result->dropped_nodes++;
    return UINT32_MAX;
  }
  result->nodes[result->node_count] = (undead_node){
    .address = block,
    .size = size,
    .isa = size >= 8 ? word_at(block) : 0,
    .outside = is_counted(kind) ? undead_outside_count(heap, block) : 0,
    .backtrace = *undead_heap_word(heap, block) & UNDEAD_WORD_BACKTRACE,
    .kind = (uint8_t)kind,
    .state = (uint8_t)state,
  };
  return result->node_count++;
}

uint32_t undead_collect_node(undead_storage *storage, undead_bodies *bodies, uintptr_t block, undead_state state) {
  size_t size = undead_block_size(block);
  return add_node(storage, bodies->heap, block, size, undead_body_kind(bodies, block, size), state);
}

static bool collect_block(void *context, uintptr_t block, uint32_t *word) {
  (void)word;
  sweep *self = context;
  undead_scan_result *result = &self->storage->result;
  size_t size = undead_heap_block_size(self->bodies->heap, block);
  undead_kind kind = undead_body_kind(self->bodies, block, size);
  if (!self->swift_only) {
    result->live_blocks++;
    result->live_bytes += size;
  }
  if (kind == UNDEAD_KIND_SIDE_TABLE) return true;
  // Its deinit has run: unowned references keep the memory, which is no leak.
  if (kind != UNDEAD_KIND_OTHER && undead_is_deiniting(self->bodies->heap, block)) return true;
  bool swift = kind != UNDEAD_KIND_OTHER;
  if (!swift && self->swift_only) return true;
  if (result->node_count == self->storage->node_limit && !self->swift_only) {
    self->full = true;
    return true;
  }
  add_node(self->storage, self->bodies->heap, block, size, kind, swift ? UNDEAD_STATE_LEAKED : UNDEAD_STATE_UNDECIDED);
  return true;
}

void undead_collect_unreached(undead_storage *storage, undead_bodies *bodies) {
  sweep self = {.storage = storage, .bodies = bodies};
  undead_heap_each_unmarked(bodies->heap, collect_block, &self);
  if (!self.full) return;
  self.swift_only = true;
  storage->result.node_count = 0;
  storage->result.dropped_nodes = 0;
  undead_heap_each_unmarked(bodies->heap, collect_block, &self);
}

// The same block, listed for another reason.
static void merge(undead_node *node, const undead_node *other) {
  if (other->state == UNDEAD_STATE_SUSPECT) node->state = UNDEAD_STATE_SUSPECT;
  uint16_t only_holder = node->flags & other->flags & UNDEAD_NODE_HOLDER;
  node->flags = (uint16_t)((node->flags | other->flags) & ~UNDEAD_NODE_HOLDER) | only_holder;
  if (!other->strong) return;
  node->strong = other->strong;
  node->counted = other->counted;
}

bool undead_collect_sort(undead_storage *storage, uint32_t sorted) {
  undead_scan_result *result = &storage->result;
  uint32_t added = result->node_count - sorted;
  if (!added) return true;
  undead_node *tail = undead_map(added * sizeof *tail);
  if (!tail) return false;
  uint32_t count = 0;
  undead_sort(result->nodes + sorted, added, sizeof *tail);   // by address
  for (uint32_t i = 0; i < added; i++) {
    const undead_node *node = &result->nodes[sorted + i];
    if (!count || tail[count - 1].address != node->address) tail[count++] = *node;
    else merge(&tail[count - 1], node);
  }
  result->node_count = sorted + count;
  for (uint32_t at = sorted + count, left = sorted, right = count; right > 0;) {
    if (left > 0 && result->nodes[left - 1].address > tail[right - 1].address) result->nodes[--at] = result->nodes[--left];
    else result->nodes[--at] = tail[--right];
  }
  undead_unmap(tail, added * sizeof *tail);
  return true;
}
