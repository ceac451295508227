#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Trial deletion of what the objects lead to: a block whose count the others do not explain is alive, with all that it leads to.
#include "scan/counts/outlived.h"
#include "platform/memory/memory.h"
#include "scan/bodies/references.h"
#include "scan/counts/tally.h"
#include "scan/mark/mark.h"

#define LISTED UNDEAD_WORD_OWNED

enum { MOST_BLOCKS = 1 << 14 };   // that an object may lead to

typedef struct {
  undead_bodies *bodies;
  undead_tally tally;       // `wanted`: alive
  undead_worklist alive;
} outlived_search;

static void keep(outlived_search *self, undead_tallied *tallied) {
  if (tallied->wanted) return;
  tallied->wanted = 1;
  undead_worklist_push(&self->alive, tallied->block);
}

static void keep_reference(void *context, const undead_reference *reference) {
  outlived_search *self = context;
  uintptr_t block = undead_heap_block(self->bodies->heap, reference->address);
  undead_tallied *tallied = block ? undead_tally_find(&self->tally, block) : NULL;
  if (tallied) keep(self, tallied);
}

static void keep_owned(outlived_search *self) {
  undead_tally *tally = &self->tally;
  for (uint32_t i = 0; i < tally->count; i++) undead_tally_add(tally, tally->blocks[i].block);
  for (uint32_t i = 0; i < tally->count; i++)
    if (!undead_tally_explains(tally, &tally->blocks[i])) keep(self, &tally->blocks[i]);
  for (uintptr_t block; (block = undead_worklist_pop(&self->alive));) {
    undead_body body;
    undead_body_of(self->bodies, block, undead_block_size(block), &body);
    undead_walk_body(self->bodies->heap, block, &body, false, keep_reference, self);
  }
}

// Lists what an object leads to; false if it is too much.
static bool explore(undead_marker *explorer, const uintptr_t *objects, uint32_t count, uint32_t reached) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t word = *undead_heap_word(explorer->heap, objects[i]);
    if (!(word & UNDEAD_WORD_MARK) || word & (reached | LISTED)) continue;
    if (!undead_mark_from(explorer, objects[i], MOST_BLOCKS)) return false;
  }
  return true;
}

static bool decide(undead_bodies *bodies, const uintptr_t *objects, uint32_t count, undead_worklist *found) {
  outlived_search self = {.bodies = bodies};
  if (!undead_tally_open(&self.tally, bodies, LISTED, 0)) return false;
  keep_owned(&self);
  bool any = false;
  for (uint32_t i = 0; i < count; i++) {
    const undead_tallied *object = undead_tally_find(&self.tally, objects[i]);
    any |= object && !object->wanted;
  }
  for (uint32_t i = 0; any && i < self.tally.count; i++)
    if (!self.tally.blocks[i].wanted) undead_worklist_push(found, self.tally.blocks[i].block);
  bool ok = !self.alive.no_memory && !found->no_memory;
  undead_worklist_close(&self.alive);
  undead_tally_close(&self.tally);
  return ok;
}

bool undead_outlived_find(undead_bodies *bodies, const uintptr_t *objects, uint32_t count, uint32_t reached, undead_worklist *found) {
  undead_marker *explorer = undead_map(sizeof *explorer);
  if (!explorer) return false;
  *explorer = (undead_marker){.bodies = bodies, .heap = bodies->heap, .bit = LISTED, .except = reached, .within = UNDEAD_WORD_MARK,
                              .weak = UNDEAD_WEAK_IS_IGNORED};
  undead_heap_clear(bodies->heap, LISTED);
  bool whole = explore(explorer, objects, count, reached), ok = !explorer->waiting.no_memory;
  if (whole) ok = ok && decide(bodies, objects, count, found);
  undead_heap_clear(bodies->heap, LISTED);
  undead_mark_close(explorer);
  undead_unmap(explorer, sizeof *explorer);
  return ok;
}
#endif
