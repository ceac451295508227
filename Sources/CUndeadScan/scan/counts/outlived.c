// What is the answer, if an object should be gone? First, trial deletion of what all objects lead to: a block whose count the others
// do not explain is alive, with all that it leads to; what is left is garbage. Then for each object by itself: if what it leads to
// explains its own count, its cycles keep it, even if a local variable owns another member of them. `undead_paths_find` calls this
// before and after the references of memory without a type are followed: before, such memory counts as alive.
#include "scan/counts/counts.h"
#include "platform/memory/memory.h"
#include "scan/bodies/references.h"
#include "scan/counts/tally.h"
#include "scan/mark/mark.h"

#define LISTED UNDEAD_WORD_OWNED

enum {
  MOST_BLOCKS = 1 << 14,   // that an object may lead to
  MOST_ALONE = 16,         // objects that are looked at one by one
  MOST_OUTLIVED_ROUNDS = 64,        // over what an object leads to
  MOST_MEMBERS = 256,      // of cycles that are not all that keeps an object
};

typedef struct {
  undead_bodies *bodies;
  undead_tally tally;       // `wanted`: alive
  undead_worklist alive;
  undead_worklist *found, *cycles;
  uint32_t reached;         // bit of blocks whose paths are known
  bool by_counts;           // only counts explain a block, and none that a library made
  uint32_t at;              // index of the block whose words are looked at
} outlived_search;

// What a library made (a timer, a channel) may be held by its records: then these are the answer, not the cycle.
static bool may_be_held_by_library(const outlived_search *self, uintptr_t block) {
  const undead_layout *layout = undead_body_layout(self->bodies, word_at(block));
  return layout && layout->kind == UNDEAD_KIND_CLASS && !layout->user_type && !layout->storage;
}

static bool is_decided(const outlived_search *self, const undead_tallied *tallied) {
  return !self->by_counts || (undead_tally_is_counted(&self->tally, tallied) && !may_be_held_by_library(self, tallied->block));
}

static bool is_explained(const outlived_search *self, const undead_tallied *tallied) {
  return undead_tally_explains(&self->tally, tallied) && is_decided(self, tallied);
}

static void keep_outlived(outlived_search *self, undead_tallied *tallied) {
  if (tallied->wanted) return;
  tallied->wanted = 1;
  undead_worklist_push(&self->alive, tallied->block);
}

static void keep_reference(void *context, const undead_reference *reference) {
  outlived_search *self = context;
  uintptr_t block = undead_heap_block(self->bodies->heap, reference->address);
  undead_tallied *tallied = block ? undead_tally_find(&self->tally, block) : NULL;
  if (tallied) keep_outlived(self, tallied);
}

static void keep_owned(outlived_search *self) {
  undead_tally *tally = &self->tally;
  for (uint32_t i = 0; i < tally->count; i++) undead_tally_add(tally, tally->blocks[i].block);
  for (uint32_t i = 0; i < tally->count; i++)
    if (!is_explained(self, &tally->blocks[i])) keep_outlived(self, &tally->blocks[i]);
  for (uintptr_t block; (block = undead_worklist_pop(&self->alive));) {
    undead_body body;
    undead_body_of(self->bodies, block, undead_block_size(block), &body);
    undead_visit_body(self->bodies->heap, block, &body, false, keep_reference, self);
  }
}

// Lists what objects lead to; false if it is too much.
static bool explore_objects(const outlived_search *self, const uintptr_t *objects, uint32_t count) {
  undead_marker *explorer = undead_map(sizeof *explorer);
  if (!explorer) return false;
  *explorer = (undead_marker){.bodies = self->bodies, .heap = self->bodies->heap, .bit = LISTED, .except = self->reached,
                              .within = UNDEAD_WORD_MARK, .weak = UNDEAD_WEAK_IS_IGNORED};
  undead_heap_clear(explorer->heap, LISTED);
  bool whole = true;
  for (uint32_t i = 0; whole && i < count; i++) {
    uint32_t word = *undead_heap_word(explorer->heap, objects[i]);
    if (!(word & UNDEAD_WORD_MARK) || word & (self->reached | LISTED)) continue;
    whole = undead_mark_from(explorer, objects[i], MOST_BLOCKS);
  }
  whole = whole && !explorer->waiting.no_memory;
  undead_mark_close(explorer);
  undead_unmap(explorer, sizeof *explorer);
  return whole;
}

static void list_block(outlived_search *self, uintptr_t block) {
  *undead_heap_word(self->bodies->heap, block) |= self->reached;
  undead_worklist_push(self->found, block);
}

static void list_garbage(outlived_search *self, const uintptr_t *objects, uint32_t count) {
  keep_owned(self);
  bool any = false;
  for (uint32_t i = 0; i < count; i++) {
    const undead_tallied *object = undead_tally_find(&self->tally, objects[i]);
    any |= object && !object->wanted;
  }
  for (uint32_t i = 0; any && i < self->tally.count; i++)
    if (!self->tally.blocks[i].wanted) list_block(self, self->tally.blocks[i].block);
}

static void note_way_back(void *context, const undead_reference *reference) {
  outlived_search *self = context;
  uintptr_t block = undead_heap_block(self->bodies->heap, reference->address);
  const undead_tallied *tallied = block ? undead_tally_find(&self->tally, block) : NULL;
  if (tallied && tallied->wanted && !undead_is_weak_evidence(reference->evidence)) self->tally.blocks[self->at].wanted = 1;
}

// `wanted`: leads back to the object.
static bool find_members(outlived_search *self) {
  undead_tally *tally = &self->tally;
  for (uint32_t round = 0, changed = 1; changed; round++) {
    if (round == MOST_OUTLIVED_ROUNDS) return false;
    changed = 0;
    for (self->at = 0; self->at < tally->count; self->at++) {
      uintptr_t block = tally->blocks[self->at].block;
      if (tally->blocks[self->at].wanted) continue;
      undead_body body;
      undead_body_of(self->bodies, block, undead_block_size(block), &body);
      undead_visit_body(self->bodies->heap, block, &body, false, note_way_back, self);
      changed |= tally->blocks[self->at].wanted;
    }
  }
  return true;
}

// What leads back to an object that somebody else owns as well.
static void list_members(outlived_search *self) {
  uint32_t members = 0;
  for (uint32_t i = 0; i < self->tally.count; i++) members += self->tally.blocks[i].wanted;
  for (uint32_t i = 0; i < self->tally.count && members <= MOST_MEMBERS; i++)
    if (self->tally.blocks[i].wanted) undead_worklist_push(self->cycles, self->tally.blocks[i].block);
}

static void list_own_cycle(outlived_search *self, uintptr_t object) {
  undead_tally *tally = &self->tally;
  undead_tallied *own = undead_tally_find(tally, object);
  for (uint32_t i = 0; i < tally->count; i++) undead_tally_add(tally, tally->blocks[i].block);
  if (!own) return;
  bool explained = is_explained(self, own);
  own->wanted = 1;
  if ((!explained && self->by_counts) || !find_members(self)) return;
  if (!explained) {
    list_members(self);
    return;
  }
  for (uint32_t i = 0; i < tally->count; i++)
    if (tally->blocks[i].wanted && !is_decided(self, &tally->blocks[i])) return;
  for (uint32_t i = 0; i < tally->count; i++)
    if (tally->blocks[i].wanted) list_block(self, tally->blocks[i].block);
}

// Looks at what some of the objects lead to; what is too much stays as it is.
static bool look(outlived_search *self, const uintptr_t *objects, uint32_t count, bool alone) {
  bool ok = true;
  if (explore_objects(self, objects, count)) {
    ok = undead_tally_open(&self->tally, self->bodies, LISTED, 0);
    if (ok && alone) list_own_cycle(self, *objects);
    if (ok && !alone) list_garbage(self, objects, count);
    undead_tally_close(&self->tally);
  }
  undead_heap_clear(self->bodies->heap, LISTED);
  return ok && !self->alive.no_memory && !self->found->no_memory && !self->cycles->no_memory;
}

bool undead_outlived_find(undead_bodies *bodies, const uintptr_t *objects, uint32_t count, uint32_t reached, bool by_counts,
                          undead_worklist *found, undead_worklist *cycles) {
  outlived_search self = {.bodies = bodies, .found = found, .cycles = cycles, .reached = reached, .by_counts = by_counts};
  bool ok = look(&self, objects, count, false);
  for (uint32_t i = 0; ok && i < count && i < MOST_ALONE; i++)
    if (!(*undead_heap_word(bodies->heap, objects[i]) & reached)) ok = look(&self, &objects[i], 1, true);
  undead_worklist_close(&self.alive);
  return ok;
}
