// The references among the listed nodes.
#include "platform/memory/memory.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/view/collect.h"
#include "scan/bodies/plain.h"
#include "scan/bodies/references.h"
#include "scan/counts/tally.h"

enum { NODES_AHEAD = 8 };

typedef struct {
  undead_storage *storage;
  undead_bodies *bodies;
  const undead_heap *heap;
  undead_address_index index;
  const undead_observer_link *links;
  uint32_t link_count;
  uint32_t from;      // the node whose words are looked at, and the first of them
  uintptr_t low;
  const undead_body *body;   // NULL: of a plain object, and not needed yet
  undead_body plain_body;
  uint32_t *owned;    // of each node: counted references from what leaked
} edge_list;

static const undead_body *body_of(edge_list *list) {
  const undead_node *node = &list->storage->result.nodes[list->from];
  if (list->body) return list->body;
  undead_body_of(list->bodies, node->address, node->size, &list->plain_body);
  return list->body = &list->plain_body;
}

static void add_edge(void *context, const undead_reference *reference) {
  edge_list *list = context;
  undead_scan_result *result = &list->storage->result;
  bool weak = reference->evidence == UNDEAD_EVIDENCE_NONE;
  // A number is no reference; but one may be all that a retain path has.
  bool leaked = result->nodes[list->from].state != UNDEAD_STATE_LIVE;
  if (reference->evidence == UNDEAD_EVIDENCE_NUMBER && leaked) return;
  uintptr_t block = undead_heap_block(list->heap, reference->address), at = reference->at;
  if (!block) return;
  if (weak) {
    uintptr_t owner = undead_side_table_owner(list->heap, block, undead_block_size(block));
    if (owner) block = owner;
  }
  uintptr_t source = result->nodes[list->from].address;
  // Tasks and contexts point into themselves; only a pointer to the start can be a reference.
  if (block == source && reference->address != source) return;
  uint32_t to = undead_address_index_of(&list->index, block);
  if (to == UINT32_MAX || at - source > UINT32_MAX) return;
  if (result->edge_count == list->storage->edge_limit) return;
  undead_kind kind = (undead_kind)result->nodes[to].kind;
  bool counted = block == reference->address
    && (leaked ? undead_body_evidence(body_of(list), at) == UNDEAD_EVIDENCE_COUNTED
               : undead_is_owning_word(list->bodies, body_of(list), at, kind));
  if (leaked && counted) list->owned[to]++;
  result->edges[result->edge_count++] = (undead_edge){
    .from = list->from,
    .to = to,
    .offset = (uint32_t)(at - source),
    .flags = weak ? UNDEAD_EDGE_WEAK : counted ? UNDEAD_EDGE_COUNTED : 0,
    .value = reference->value,
    .companion = at % 8 == 0 && at - 8 >= list->low ? word_at(at - 8) : 0,
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
  const undead_plan *plan = list->link_count ? NULL : undead_plain_plan(list->bodies, node->address, node->size);
  list->from = from;
  if (plan && !plan->has_weak) {
    list->low = node->address + ABI_OBJECT_HEADER;
    list->body = NULL;
    undead_walk_plain(list->heap, node->address, node->size, plan, add_edge, list);
    return;
  }
  undead_body body;
  undead_body_of(list->bodies, node->address, node->size, &body);
  list->low = body.low;
  list->body = &body;
  if (list->link_count) add_implied(list, from, (uint32_t)(body.low - node->address));
  undead_visit_body(list->heap, node->address, &body, true, add_edge, list);
}

// What the nodes behind this one refer to is seldom in the cache.
static void look_ahead(const edge_list *list, uint32_t node) {
  const undead_scan_result *result = &list->storage->result;
  if (node >= result->node_count || result->nodes[node].size < 32) return;
  for (uintptr_t at = result->nodes[node].address + 16; at < result->nodes[node].address + 32; at += 8) {
    uintptr_t address = word_at(at) & UNDEAD_POINTER_MASK;
    if (!undead_heap_may_hold(list->heap, address) || !list->heap->regions[address >> UNDEAD_LEAF_SHIFT].leaf) continue;
    __builtin_prefetch(undead_heap_word(list->heap, address));
    uint32_t to = undead_address_index_of(&list->index, address);
    if (to == UINT32_MAX) continue;
    __builtin_prefetch(&result->nodes[to]);
    __builtin_prefetch(&list->owned[to]);
  }
}

static bool is_async_memory(const edge_list *list, const undead_node *node) {
  uintptr_t slab = list->bodies->stale->slab_isa;
  return node->kind == UNDEAD_KIND_TASK || (slab && node->kind == UNDEAD_KIND_OTHER && node->isa == slab);
}

// What leaked is referred to by what leaked only, so these references are all that there are.
static void note_counts(edge_list *list) {
  undead_scan_result *result = &list->storage->result;
  for (uint32_t i = 0; i < result->node_count; i++) {
    undead_node *object = &result->nodes[i];
    bool counted = object->kind == UNDEAD_KIND_CLASS || object->kind == UNDEAD_KIND_CONTEXT
      || object->kind == UNDEAD_KIND_GENERIC_BOX || object->kind == UNDEAD_KIND_ERROR;
    if (!counted || object->state != UNDEAD_STATE_LEAKED) continue;
    uint64_t strong = undead_strong_count(list->heap, object->address);
    object->strong = strong > UINT32_MAX ? 0 : (uint32_t)strong;
    object->counted = list->owned[i];
  }
}

// All the strong references to the object at `node` are fields and captures of what leaked, too.
static bool is_owned_by_others(const edge_list *list, uint32_t node) {
  const undead_node *object = &list->storage->result.nodes[node];
  return object->state == UNDEAD_STATE_LEAKED && object->strong && object->strong == object->counted;
}

// The frames of a task refer to what their functions use, and used, and a pointer that is not counted to whatever it was given:
// only what nobody else owns is theirs. Otherwise one leak would belong to another by what a dead variable happens to hold,
// and the report of a cycle would show an `unowned(unsafe)` field of it.
static void note_borrowed(edge_list *list) {
  undead_scan_result *result = &list->storage->result;
  for (uint32_t i = 0; i < result->edge_count; i++) {
    undead_edge *edge = &result->edges[i];
    const undead_node *from = &result->nodes[edge->from];
    bool counted = edge->flags & UNDEAD_EDGE_COUNTED;
    if (edge->flags & ~UNDEAD_EDGE_COUNTED || from->state == UNDEAD_STATE_LIVE || (counted && !is_async_memory(list, from)))
      continue;
    if (is_owned_by_others(list, edge->to)) edge->flags |= UNDEAD_EDGE_BORROWED;
  }
}

bool undead_collect_edges(undead_storage *storage, undead_bodies *bodies, const undead_observer_link *links,
                          uint32_t link_count) {
  edge_list list = {.storage = storage, .bodies = bodies, .heap = bodies->heap, .links = links, .link_count = link_count};
  uint32_t count = storage->result.node_count;
  if (!(list.owned = undead_map((count + 1ull) * sizeof *list.owned))) return false;
  bool ok = undead_address_index_open(&list.index, storage->result.nodes, sizeof(undead_node), count);
  for (uint32_t i = 0; ok && i < count; i++) {
    look_ahead(&list, i + NODES_AHEAD);
    edges_of(&list, i);
  }
  if (ok) note_counts(&list);
  if (ok) note_borrowed(&list);
  if (ok) undead_address_index_close(&list.index);
  undead_unmap(list.owned, (count + 1ull) * sizeof *list.owned);
  return ok;
}
