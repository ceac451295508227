// The references among the listed nodes.
#include "platform/memory.h"
#include "runtime/abi.h"
#include "scan/collect.h"

typedef struct {
  undead_storage *storage;
  undead_bodies *bodies;
  const undead_heap *heap;
  undead_address_index index;
  const undead_observer_link *links;
  uint32_t link_count;
} edge_list;

static uint64_t word_at(uintptr_t address) { return *(const uint64_t *)address; }

static void add_edge(edge_list *list, uint32_t from, uintptr_t at, uintptr_t low, bool weak) {
  undead_scan_result *result = &list->storage->result;
  uintptr_t value = word_at(at), block = undead_heap_resolve(list->heap, value);
  if (!block) block = undead_complement_target(list->heap, value);
  if (!block) return;
  if (weak) {
    uintptr_t owner = undead_side_table_owner(list->heap, block, undead_block_size(block));
    if (owner) block = owner;
  }
  uintptr_t source = result->nodes[from].address;
  // Tasks and contexts point into themselves; only a pointer to the start can be a reference.
  if (block == source && (value & UNDEAD_POINTER_MASK) != source) return;
  uint32_t to = undead_address_index_of(&list->index, block);
  if (to == UINT32_MAX) return;
  if (result->edge_count == list->storage->edge_limit) {
    list->storage->edges_lost++;
    return;
  }
  result->edges[result->edge_count++] = (undead_edge){
    .from = from,
    .to = to,
    .offset = (uint32_t)(at - source),
    .flags = weak ? UNDEAD_EDGE_WEAK : 0,
    .value = value,
    .companion = at - 8 >= low ? word_at(at - 8) : 0,
  };
}

static void add_implied(edge_list *list, uint32_t from, uint32_t offset) {
  undead_scan_result *result = &list->storage->result;
  for (uint32_t i = 0; i < list->link_count; i++) {
    if (list->links[i].token != result->nodes[from].address) continue;
    uint32_t to = undead_address_index_of(&list->index, list->links[i].closure);
    if (to == UINT32_MAX || result->edge_count == list->storage->edge_limit) continue;
    result->edges[result->edge_count++] =
      (undead_edge){.from = from, .to = to, .offset = offset, .flags = UNDEAD_EDGE_IMPLIED};
  }
}

static void edges_of(edge_list *list, uint32_t from) {
  const undead_node *node = &list->storage->result.nodes[from];
  undead_body body;
  undead_body_of(list->bodies, node->address, node->size, &body);
  uint32_t skip = 0;
  for (uintptr_t at = body.low; at < body.high && at - node->address <= UINT32_MAX; at += 8) {
    while (skip < body.skip_count && body.skip[skip] < at - node->address) skip++;
    bool weak = skip < body.skip_count && body.skip[skip] == at - node->address;
    add_edge(list, from, at, body.low, weak);
    if (list->link_count && at == body.low && body.isa) add_implied(list, from, (uint32_t)(at - node->address));
  }
}

bool undead_collect_edges(undead_storage *storage, undead_bodies *bodies, const undead_observer_link *links,
                          uint32_t link_count) {
  edge_list list = {.storage = storage, .bodies = bodies, .heap = bodies->heap, .links = links, .link_count = link_count};
  if (!undead_address_index_open(&list.index, storage->result.nodes, sizeof(undead_node), storage->result.node_count)) return false;
  for (uint32_t i = 0; i < storage->result.node_count; i++) edges_of(&list, i);
  undead_address_index_close(&list.index);
  return true;
}
