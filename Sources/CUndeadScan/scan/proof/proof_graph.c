#include "scan/proof/proof_graph.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "runtime/descriptors.h"
#include "scan/bodies/references.h"

enum {
  MOST_OLD = 1 << 14,        // blocks that were there before
  MOST_NODES = 1 << 15,
  SLOTS = 1 << 17,
  MOST_BYTES = 8 << 20,      // that are looked at: some milliseconds
};
_Static_assert(MOST_NODES < SLOTS / 2, "there is always a free slot");

static uint32_t *slot_of_proof(const undead_proof_graph *graph, uintptr_t block) {
  uint64_t at = undead_spread(block >> 4) >> 40 & (SLOTS - 1);
  while (graph->slots[at] && graph->nodes[graph->slots[at] - 1].block != block) at = (at + 1) & (SLOTS - 1);
  return &graph->slots[at];
}

static uint32_t word_of(const undead_proof_graph *graph, uintptr_t block) {
  return __atomic_load_n(undead_heap_word(graph->heap, block), __ATOMIC_ACQUIRE);
}

static uint32_t add_proof_node(undead_proof_graph *graph, uint32_t *slot, uintptr_t block, uint32_t from, uintptr_t place) {
  uint32_t number = graph->count++;
  graph->nodes[number] = (undead_proof_node){.block = block, .place = place, .word = word_of(graph, block), .from = from};
  *slot = number + 1;
  return number;
}

bool undead_proof_graph_open(undead_proof_graph *graph, const undead_heap *heap, const undead_proof *proof) {
  static const undead_stale stale;
  *graph = (undead_proof_graph){.heap = heap, .first_id = proof->first_id};
  graph->bodies = undead_map(sizeof *graph->bodies);
  graph->nodes = undead_map(MOST_NODES * sizeof *graph->nodes);
  graph->slots = undead_map(SLOTS * sizeof *graph->slots);
  graph->fresh = undead_map(MOST_NODES * sizeof *graph->fresh);
  if (!graph->bodies || !graph->nodes || !graph->slots || !graph->fresh) return false;
  graph->bodies->heap = heap;
  graph->bodies->stale = &stale;
  graph->bodies->exact = true;
  if (proof->wanted_count > MOST_NODES / 2) return false;
  for (uint32_t i = 0; i < proof->wanted_count; i++) {
    if (!undead_heap_starts(heap, proof->wanted[i])) return false;
    uint32_t *slot = slot_of_proof(graph, proof->wanted[i]);
    if (!*slot) add_proof_node(graph, slot, proof->wanted[i], UNDEAD_PROOF_NOBODY, 0);
  }
  graph->missing = graph->wanted = graph->count;
  return true;
}

void undead_proof_graph_close(undead_proof_graph *graph) {
  if (graph->bodies) undead_unmap(graph->bodies, sizeof *graph->bodies);
  if (graph->nodes) undead_unmap(graph->nodes, MOST_NODES * sizeof *graph->nodes);
  if (graph->slots) undead_unmap(graph->slots, SLOTS * sizeof *graph->slots);
  if (graph->fresh) undead_unmap(graph->fresh, MOST_NODES * sizeof *graph->fresh);
}

static void reach_proof_block(undead_proof_graph *graph, uintptr_t block, uint32_t from, uintptr_t place) {
  uint32_t *slot = slot_of_proof(graph, block), number;
  if (*slot) {
    number = *slot - 1;
    if (graph->nodes[number].from != UNDEAD_PROOF_NOBODY) return;
    graph->nodes[number].from = from;
    graph->nodes[number].place = place;
    graph->missing--;
  } else {
    bool fresh = (word_of(graph, block) & UNDEAD_WORD_BACKTRACE) >= graph->first_id;
    if (graph->count == MOST_NODES || (!fresh && graph->old_count == MOST_OLD)) return;
    graph->old_count += !fresh;
    number = add_proof_node(graph, slot, block, from, place);
    if (!fresh) return;
  }
  graph->fresh[graph->fresh_count++] = number;
}

void undead_proof_reach_from_root(undead_proof_graph *graph, uintptr_t place, uintptr_t value) {
  if (undead_heap_starts(graph->heap, value)) reach_proof_block(graph, value, UNDEAD_PROOF_ROOT, place);
}

void undead_proof_reach_held(undead_proof_graph *graph, uintptr_t object) {
  if (undead_heap_starts(graph->heap, object)) reach_proof_block(graph, object, UNDEAD_PROOF_HOLDER, 0);
}

// Whether it can be no block that fires or waits (scan/suspects/suspects.c), nor memory of such: references to these may be the
// framework's own, and hold nothing then. Items of run loops are objects of this package.
static bool may_be_passed(const undead_layout *layout) {
  if (layout->category != UNDEAD_CATEGORY_NONE && layout->category != UNDEAD_CATEGORY_DATA_STORAGE) return false;
  if (layout->kind == UNDEAD_KIND_CONTEXT || layout->kind == UNDEAD_KIND_GENERIC_BOX) return true;
  if (layout->kind != UNDEAD_KIND_CLASS) return false;
  return layout->user_type || layout->storage || !undead_descriptor_is_own(word_at(layout->isa + ABI_CLASS_DESCRIPTOR));
}

// Bytes and numbers may be many.
static bool has_numbers_only(const undead_layout *layout) {
  return layout->numbers[0] && (layout->numbers[1] || layout->storage != UNDEAD_STORAGE_DICTIONARY);
}

// Whether a reference of this evidence is one that keeps alive what it names.
static bool is_certain(const undead_body *body, const undead_reference *reference) {
  if (reference->at % 8 || undead_is_weak_evidence(reference->evidence) || reference->evidence == UNDEAD_EVIDENCE_NONE)
    return false;
  // The type of what lies in an existential may not be known yet.
  return reference->evidence != UNDEAD_EVIDENCE_BUFFER || undead_body_evidence(body, reference->at) == UNDEAD_EVIDENCE_COUNTED;
}

typedef struct {
  undead_proof_graph *graph;
  const undead_body *body;
} followed_block;

static void visit_proof_reference(void *context, const undead_reference *reference) {
  const followed_block *followed = context;
  undead_proof_graph *graph = followed->graph;
  if (!undead_heap_starts(graph->heap, reference->address) || !is_certain(followed->body, reference)) return;
  reach_proof_block(graph, reference->address, graph->current, reference->at);
}

void undead_proof_learn(undead_proof_graph *graph) {
  graph->learns = undead_maps_refresh();
  for (uint32_t i = 0; graph->learns && i < graph->count; i++)
    if (graph->nodes[i].unknown) graph->nodes[i].followed = false;
  graph->next = 0;
}

// NULL also for memory that only begins like an object.
static const undead_layout *layout_of(undead_proof_graph *graph, uint32_t number, size_t size) {
  uintptr_t block = graph->nodes[number].block;
  if (size < ABI_OBJECT_HEADER) return NULL;
  bool known = undead_body_layout(graph->bodies, word_at(block));
  if (!known && graph->learns) known = undead_body_learn(graph->bodies, word_at(block));
  graph->nodes[number].unknown = !known;
  return known ? undead_block_layout(graph->bodies, block, size) : NULL;
}

// The references of a block whose type is known.
static void each_reference(undead_proof_graph *graph, uint32_t number, undead_reference_visitor visitor) {
  uintptr_t block = graph->nodes[number].block;
  size_t size = undead_heap_block_size(graph->heap, block);
  const undead_layout *layout = layout_of(graph, number, size);
  if (!layout || !may_be_passed(layout) || has_numbers_only(layout)) return;
  graph->bytes += size;
  if (graph->bytes > MOST_BYTES) return;
  undead_body body;
  undead_body_of(graph->bodies, block, size, &body);
  if (body.layout != layout) return;
  graph->current = number;
  undead_visit_body(graph->heap, block, &body, false, visitor, &(followed_block){graph, &body});
}

bool undead_proof_follow(undead_proof_graph *graph) {
  while (graph->missing && graph->bytes <= MOST_BYTES) {
    uint32_t number;
    if (graph->fresh_count) number = graph->fresh[--graph->fresh_count];
    else if (graph->next < graph->count) number = graph->next++;
    else return false;
    undead_proof_node *node = &graph->nodes[number];
    if (node->followed || node->from == UNDEAD_PROOF_NOBODY) continue;
    node->followed = true;
    each_reference(graph, number, visit_proof_reference);
  }
  return !graph->missing;
}

static void confirm_reference(void *context, const undead_reference *reference) {
  const followed_block *followed = context;
  undead_proof_graph *graph = followed->graph;
  if (!undead_heap_starts(graph->heap, reference->address) || !is_certain(followed->body, reference)) return;
  uint32_t slot = *slot_of_proof(graph, reference->address);
  undead_proof_node *node = slot ? &graph->nodes[slot - 1] : NULL;
  if (node && node->from == graph->current && node->place == reference->at) node->confirmed = true;
}

static void need(undead_proof_graph *graph, uint32_t number) {
  while (number < graph->count && !graph->nodes[number].needed) {
    graph->nodes[number].needed = true;
    number = graph->nodes[number].from;
  }
}

static bool is_there(const undead_proof_graph *graph, const undead_proof_roots *roots, const undead_proof_node *node) {
  if (word_of(graph, node->block) != node->word) return false;
  if (node->from == UNDEAD_PROOF_HOLDER) return true;
  if (node->from != UNDEAD_PROOF_ROOT) return node->confirmed;
  return undead_proof_is_root(roots, node->place) && word_at(node->place) == node->block;
}

bool undead_proof_confirm(undead_proof_graph *graph, const undead_proof_roots *roots) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  graph->bytes = 0;
  for (uint32_t i = 0; i < graph->wanted; i++) need(graph, i);
  for (uint32_t i = 0; i < graph->count; i++)
    if (graph->nodes[i].needed && graph->nodes[i].followed) each_reference(graph, i, confirm_reference);
  for (uint32_t i = 0; i < graph->count; i++)
    if (graph->nodes[i].needed && !is_there(graph, roots, &graph->nodes[i])) return false;
  return true;
}
