// Who owns what a thread's path starts at, and what is reported: counted references are found by one pass over all blocks and
// roots, and compared with the strong count. Folded holders (contexts, arrays) are replaced by those who hold them.
#include "scan/paths/paths.h"
#include "platform/memory/memory.h"
#include "scan/bodies/references.h"
#include "scan/counts/tally.h"
#include "scan/blocks/worklist.h"

#define HELD UNDEAD_WORD_OWNED   // by a thread, at the start of a path, or reported

enum {
  MOST_HOLDERS = 8,      // of one block
  MOST_NODES = 1 << 14,  // of all
  MOST_ROUNDS = 2,       // a context in an array in an object
};

typedef struct {
  const undead_pathfinder *finder;
  undead_storage *storage;
  undead_scan_result *result;
  undead_bodies *bodies;
  const undead_roots *roots;
  undead_tally tally;      // of what threads hold and what is reported; `named`: by another than the thread, too
  const undead_body *body;
  const undead_root *root;
  undead_worklist folded;  // holders that no programmer knows: who holds these tells more
  uint32_t holder_count;
} owner_search;

static bool starts_at_thread(const undead_path *path) {
  return path->root_kind == UNDEAD_ROOT_STACK || path->root_kind == UNDEAD_ROOT_REGISTER
    || path->root_kind == UNDEAD_ROOT_THREAD_LOCAL;
}

static undead_tallied *held_block(const owner_search *self, uintptr_t address) {
  uintptr_t block = undead_heap_block(self->bodies->heap, address);
  return block ? undead_tally_find(&self->tally, block) : NULL;
}

// What the compiler makes between two objects: contexts of closures, boxes, storage of collections.
static bool is_folded(const undead_layout *layout) {
  return layout && (layout->kind == UNDEAD_KIND_CONTEXT || layout->kind == UNDEAD_KIND_GENERIC_BOX
                    || layout->kind == UNDEAD_KIND_ERROR || layout->storage);
}

// What is only said beside a finding must not cost one.
static bool has_room(const owner_search *self) { return self->result->node_count < self->storage->node_limit / 2; }

// Of what leaked all is listed anyway.
static void list_holder(owner_search *self, undead_tallied *held) {
  uintptr_t holder = self->body->block;
  if (!held->wanted || self->holder_count == MOST_NODES) return;
  held->wanted--;
  if (!(*undead_heap_word(self->bodies->heap, holder) & UNDEAD_WORD_MARK) || !has_room(self)) return;
  uint32_t node = undead_collect_node(self->storage, self->bodies, holder, UNDEAD_STATE_LIVE);
  self->result->nodes[node].flags = UNDEAD_NODE_HOLDER;
  self->holder_count++;
  if (is_folded(self->body->layout)) undead_worklist_push(&self->folded, holder);
}

static void note_reference(void *context, const undead_reference *reference) {
  owner_search *self = context;
  undead_tallied *held = held_block(self, reference->address);
  if (!held || reference->evidence == UNDEAD_EVIDENCE_NUMBER) return;
  undead_evidence evidence = undead_body_evidence(self->body, reference->at);
  undead_kind kind = undead_body_kind(self->bodies, held->block, undead_block_size(held->block));
  bool counted = held->block == reference->address && !undead_is_weak_evidence(reference->evidence)
    && undead_is_owning_word(self->bodies, self->body, reference->at, kind);
  held->counted += counted;
  if (counted) list_holder(self, held);
  // A word that is no reference, such as one that an empty case left, owns nothing; nor does a block that points into itself.
  if (counted || evidence == UNDEAD_EVIDENCE_NUMBER || held->block == self->body->block) return;
  held->named = true;
  held->named_by |= UNDEAD_NODE_NAMED_BY_MEMORY;
}

static bool note_references(void *context, uintptr_t block, uint32_t *word) {
  (void)word;
  owner_search *self = context;
  undead_body body;
  undead_body_of(self->bodies, block, undead_block_size(block), &body);
  // What died owns nothing, though its fields still name what they held.
  if (body.layout && undead_is_deiniting(self->bodies->heap, block)) return true;
  self->body = &body;
  undead_visit_body(self->bodies->heap, block, &body, false, note_reference, self);
  return true;
}

// The thread at whose word the paths through a block start.
static int32_t thread_of_block(const owner_search *self, uintptr_t block) {
  for (uint32_t i = 0; i < self->result->path_count; i++)
    if (self->finder->first_block[i] == block) return (int32_t)self->result->paths[i].thread;
  return 0;
}

static void note_root_word(void *context, const undead_reference *reference) {
  owner_search *self = context;
  undead_tallied *held = held_block(self, reference->address);
  if (!held) return;
  bool of_thread = self->root->kind != UNDEAD_ROOT_GLOBAL;
  held->named_by |= of_thread ? UNDEAD_NODE_NAMED_BY_THREAD : UNDEAD_NODE_NAMED_BY_GLOBAL;
  if (held->named) return;
  if (!of_thread || self->root->tid != thread_of_block(self, held->block)) held->named = true;
}

static void note_roots(owner_search *self) {
  for (uint32_t i = 0; i < self->roots->count; i++) {
    self->root = &self->roots->roots[i];
    undead_visit_root(self->bodies->heap, self->root, note_root_word, self);
  }
}

// The counts of a block; false if they are not known. A thread may be in the middle of a change.
static bool counts_of(const owner_search *self, uintptr_t block, const undead_tallied *held, uint32_t *strong) {
  if (!held || !undead_tally_is_counted(&self->tally, held)) return false;
  uint64_t count = undead_strong_count(self->bodies->heap, block);
  *strong = (uint32_t)count;
  return count && count <= UINT32_MAX && held->counted <= count;
}

static void tell_path(const owner_search *self, uint32_t number) {
  undead_path *path = &self->result->paths[number];
  uintptr_t block = self->finder->first_block[number];
  const undead_tallied *held = starts_at_thread(path) ? undead_tally_find(&self->tally, block) : NULL;
  uint32_t strong;
  if (!counts_of(self, block, held, &strong)) return;
  path->strong = strong;
  path->counted = held->counted;
  path->shared = held->named;
}

static void tell_block(const owner_search *self, uintptr_t block) {
  const undead_tallied *held = undead_tally_find(&self->tally, block);
  uint32_t strong, node;
  if (!counts_of(self, block, held, &strong) || !has_room(self)) return;
  node = undead_collect_node(self->storage, self->bodies, block, UNDEAD_STATE_LIVE);
  self->result->nodes[node].strong = strong;
  self->result->nodes[node].counted = held->counted;
  self->result->nodes[node].flags = held->named_by;
}

// Lists one holder of each of the folded ones.
static bool list_outer_holders(owner_search *self) {
  const undead_heap *heap = self->bodies->heap;
  undead_tally_close(&self->tally);
  undead_heap_clear(heap, HELD);
  for (uintptr_t block; (block = undead_worklist_pop(&self->folded));) *undead_heap_word(heap, block) |= HELD;
  if (!undead_tally_open(&self->tally, self->bodies, HELD, 0)) return false;
  for (uint32_t i = 0; i < self->tally.count; i++) self->tally.blocks[i].wanted = 1;
  undead_heap_each(heap, note_references, self);
  return true;
}

static bool count(owner_search *self, const uintptr_t *told, uint32_t told_count) {
  if (!undead_tally_open(&self->tally, self->bodies, HELD, 0)) return false;
  for (uint32_t i = 0; i < told_count; i++) {
    undead_tallied *held = undead_tally_find(&self->tally, told[i]);
    if (held) held->wanted = MOST_HOLDERS;
  }
  undead_heap_each(self->bodies->heap, note_references, self);
  note_roots(self);
  for (uint32_t i = 0; i < self->result->path_count; i++) tell_path(self, i);
  for (uint32_t i = 0; i < told_count; i++) tell_block(self, told[i]);
  bool ok = true;
  for (int round = 0; ok && round < MOST_ROUNDS && undead_worklist_has(&self->folded); round++) ok = list_outer_holders(self);
  return ok && !self->folded.no_memory;
}

bool undead_owners_count(const undead_pathfinder *finder, undead_storage *storage, undead_bodies *bodies,
                         const undead_roots *roots, const uintptr_t *told, uint32_t told_count) {
  owner_search self = {.finder = finder, .storage = storage, .result = &storage->result, .bodies = bodies, .roots = roots};
  uint32_t held = told_count;
  for (uint32_t i = 0; i < told_count; i++) *undead_heap_word(bodies->heap, told[i]) |= HELD;
  for (uint32_t i = 0; i < self.result->path_count; i++) {
    if (!starts_at_thread(&self.result->paths[i])) continue;
    *undead_heap_word(bodies->heap, finder->first_block[i]) |= HELD;
    held++;
  }
  if (!held) return true;
  bool ok = count(&self, told, told_count);
  undead_tally_close(&self.tally);
  undead_worklist_close(&self.folded);
  undead_heap_clear(bodies->heap, HELD);
  return ok;
}
