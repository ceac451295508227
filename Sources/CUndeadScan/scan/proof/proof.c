#include "scan/proof.h"
#include "platform/memory/own_data.h"
#include "platform/processor/words.h"
#include "record/allocator.h"
#include "record/sparse.h"
#include "scan/proof/proof_graph.h"
#include "world/images.h"

// Places of globals that the last proofs began with: tests fill the same caches, one after the other.
enum { RECENT = 8 };
static uintptr_t recent[RECENT];

static void note_recent(uintptr_t place) {
  uint32_t at = 0;
  while (at + 1 < RECENT && recent[at] != place) at++;
  for (; at > 0; at--) recent[at] = recent[at - 1];
  recent[0] = place;
}

static void look_at_root(void *context, uintptr_t place, uintptr_t value) {
  undead_proof_reach_from_root(context, place, value);
}

static bool search_recent(undead_proof_graph *graph, const undead_proof_roots *roots) {
  for (uint32_t i = 0; i < RECENT && recent[i]; i++)
    if (undead_proof_is_root(roots, recent[i])) undead_proof_reach_from_root(graph, recent[i], word_at(recent[i]));
  return undead_proof_follow(graph);
}

static bool search_proof(undead_proof_graph *graph, const undead_proof_roots *roots, uintptr_t holder) {
  if (holder) undead_proof_reach_held(graph, holder);
  if (search_recent(graph, roots)) return true;
  undead_proof_each_root(roots, graph->heap, false, look_at_root, graph);
  if (undead_proof_follow(graph)) return true;
  // What no look has met yet, such as the objects of the first test.
  undead_proof_learn(graph);
  if (undead_proof_follow(graph)) return true;
  undead_proof_each_root(roots, graph->heap, true, look_at_root, graph);
  return undead_proof_follow(graph);
}

static bool is_possible(void) {
  return !undead_allocator_is_other() && !undead_sparse_used && !undead_registry_own_bit;
}

void undead_proof_search(undead_proof *proof) {
  undead_heap heap;
  undead_proof_graph graph;
  undead_proof_roots roots;
  proof->found = false;
  if (!is_possible() || !undead_images_refresh() || !undead_heap_open_registered(&heap)) return;
  undead_proof_roots_open(&roots);
  if (undead_proof_graph_open(&graph, &heap, proof)) {
    proof->found = search_proof(&graph, &roots, proof->holder) && undead_proof_confirm(&graph, &roots);
    for (uint32_t i = 0; proof->found && i < graph.count; i++)
      if (graph.nodes[i].needed && graph.nodes[i].from == UNDEAD_PROOF_ROOT) note_recent(graph.nodes[i].place);
  }
  undead_proof_graph_close(&graph);
  undead_heap_close(&heap);
}
