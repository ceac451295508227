#include "scan/owners.h"
#include "platform/memory.h"
#include "scan/references.h"
#include "scan/tally.h"

#define HELD UNDEAD_WORD_OWNED   // by a thread, at the start of a path

typedef struct {
  const undead_pathfinder *finder;
  undead_scan_result *result;
  undead_bodies *bodies;
  const undead_roots *roots;
  undead_tally tally;      // of what threads hold; `named`: by somebody else, too
  const undead_body *body;
  const undead_root *root;
} owner_search;

static bool starts_at_thread(const undead_path *path) {
  return path->root_kind == UNDEAD_ROOT_STACK || path->root_kind == UNDEAD_ROOT_REGISTER
    || path->root_kind == UNDEAD_ROOT_THREAD_LOCAL;
}

static undead_tallied *held_block(const owner_search *self, uintptr_t address) {
  uintptr_t block = undead_heap_block(self->bodies->heap, address);
  return block ? undead_tally_find(&self->tally, block) : NULL;
}

static void note_reference(void *context, const undead_reference *reference) {
  owner_search *self = context;
  undead_tallied *held = held_block(self, reference->address);
  if (!held || reference->evidence == UNDEAD_EVIDENCE_NUMBER) return;
  undead_evidence evidence = undead_body_evidence(self->body, reference->at);
  bool counted = held->block == reference->address && !undead_is_untyped(reference->evidence)
    && evidence == UNDEAD_EVIDENCE_COUNTED;
  held->counted += counted;
  // A word that is no reference, such as one that an empty case left, owns nothing; nor does a block that points into itself.
  if (!counted && evidence != UNDEAD_EVIDENCE_NUMBER && held->block != self->body->block) held->named = true;
}

static bool note_references(void *context, uintptr_t block, uint32_t *word) {
  (void)word;
  owner_search *self = context;
  undead_body body;
  undead_body_of(self->bodies, block, undead_block_size(block), &body);
  self->body = &body;
  undead_walk_body(self->bodies->heap, block, &body, false, note_reference, self);
  return true;
}

// The thread at whose word the paths through a block start.
static int32_t thread_of(const owner_search *self, uintptr_t block) {
  for (uint32_t i = 0; i < self->result->path_count; i++)
    if (self->finder->first_block[i] == block) return (int32_t)self->result->paths[i].thread;
  return 0;
}

static void note_root_word(void *context, const undead_reference *reference) {
  owner_search *self = context;
  undead_tallied *held = held_block(self, reference->address);
  if (!held || held->named) return;
  bool of_thread = self->root->kind != UNDEAD_ROOT_GLOBAL;
  if (!of_thread || self->root->tid != thread_of(self, held->block)) held->named = true;
}

static void note_roots(owner_search *self) {
  for (uint32_t i = 0; i < self->roots->count; i++) {
    self->root = &self->roots->roots[i];
    undead_walk_root(self->bodies->heap, self->root, note_root_word, self);
  }
}

static void tell(const owner_search *self, uint32_t number) {
  undead_path *path = &self->result->paths[number];
  uintptr_t block = self->finder->first_block[number];
  const undead_tallied *held = starts_at_thread(path) ? undead_tally_find(&self->tally, block) : NULL;
  if (!held || !undead_tally_is_counted(&self->tally, held)) return;
  uint64_t strong = undead_strong_count(self->bodies->heap, block);
  // A thread may be in the middle of a change.
  if (strong > UINT32_MAX || held->counted > strong) return;
  path->strong = (uint32_t)strong;
  path->counted = held->counted;
  path->shared = held->named;
}

bool undead_owners_count(const undead_pathfinder *finder, undead_storage *storage, undead_bodies *bodies,
                         const undead_roots *roots) {
  owner_search self = {.finder = finder, .result = &storage->result, .bodies = bodies, .roots = roots};
  uint32_t held = 0;
  for (uint32_t i = 0; i < self.result->path_count; i++) {
    if (!starts_at_thread(&self.result->paths[i])) continue;
    *undead_heap_word(bodies->heap, finder->first_block[i]) |= HELD;
    held++;
  }
  if (!held) return true;
  bool ok = undead_tally_open(&self.tally, bodies, HELD, 0);
  if (ok) {
    undead_heap_each(bodies->heap, note_references, &self);
    note_roots(&self);
    for (uint32_t i = 0; i < self.result->path_count; i++) tell(&self, i);
  }
  undead_tally_close(&self.tally);
  return ok;
}
