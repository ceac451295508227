// A record of the program may begin with a class and a number, as an object does. Where the class has a weak or unowned field, the
// record may have its only reference to an instance. Mostly a backtrace says who made a block. Without one, a counted reference from
// elsewhere does: the compiler counts objects only. As this is seldom needed, it is found backwards, like in switched.c:
//
//   blocks that are not marked ← weak and unowned words ← counted references to the blocks that have these
//
// Who calls: analysis.c, after the roots and before the counts decide.
#include "scan/mark/mark.h"
#include "platform/memory/memory.h"
#include "platform/memory/sort.h"
#include "platform/processor/words.h"
#include "scan/bodies/references.h"

typedef struct {
  undead_marker *marker;
  undead_worklist listed;
  uintptr_t *blocks;   // with such words that name what is not marked, ascending
  bool *counted;       // a counted reference names it
  uint32_t count, capacity;
  undead_body *body;
} unsure_search;

static bool is_unmarked(const undead_heap *heap, uintptr_t word) {
  uintptr_t block = undead_heap_resolve(heap, word);
  return block && !(*undead_heap_word(heap, block) & UNDEAD_WORD_MARK);
}

static bool list_unsure(void *context, uintptr_t block, uint32_t *word) {
  (void)word;
  unsure_search *self = context;
  const undead_heap *heap = self->marker->heap;
  size_t size = undead_heap_block_size(heap, block);
  if (!undead_is_unsure(self->marker->bodies, block, size)) return true;
  const undead_layout *layout = undead_body_layout(self->marker->bodies, word_at(block));
  for (uint32_t i = 0; i < layout->skip_count && layout->skip[i] + 8 <= size; i++) {
    if (!is_unmarked(heap, word_at(block + layout->skip[i]))) continue;
    undead_worklist_push(&self->listed, block);
    return true;
  }
  return true;
}

static bool take_list(unsure_search *self) {
  uint64_t count = undead_worklist_size(&self->listed);
  if (self->listed.no_memory || count > UINT32_MAX / 2) return false;
  if (!count) return true;
  self->capacity = (uint32_t)count;
  self->blocks = undead_map(count * sizeof *self->blocks);
  self->counted = undead_map(count * sizeof *self->counted);
  if (!self->blocks || !self->counted) return false;
  for (; self->count < count; self->count++) self->blocks[self->count] = undead_worklist_pop(&self->listed);
  undead_sort_words(self->blocks, self->count);
  return true;
}

static void note_counted(void *context, const undead_reference *reference) {
  unsure_search *self = context;
  if (reference->address < self->blocks[0] || reference->address > self->blocks[self->count - 1]) return;
  if (undead_body_evidence(self->body, reference->at) != UNDEAD_EVIDENCE_COUNTED) return;
  size_t place = undead_place_of_word(self->blocks, self->count, reference->address);
  if (place < self->count) self->counted[place] = true;
}

static bool look_into(void *context, uintptr_t block, uint32_t *word) {
  unsure_search *self = context;
  if (!(*word & UNDEAD_WORD_MARK)) return true;
  undead_body body;
  undead_body_of(self->marker->bodies, block, undead_heap_block_size(self->marker->heap, block), &body);
  self->body = &body;
  if (body.layout) undead_walk_body(self->marker->heap, block, &body, false, note_counted, self);
  return true;
}

static bool look_again(void *context, uintptr_t block, uint32_t *word) {
  undead_marker *marker = context;
  if (!(*word & UNDEAD_WORD_MARK)) return true;
  if (undead_is_unsure(marker->bodies, block, undead_heap_block_size(marker->heap, block))) undead_mark_again(marker, block);
  return true;
}

// The blocks that a counted reference names stay in the list; the others are looked at again.
static void keep_sure(unsure_search *self) {
  undead_bodies *bodies = self->marker->bodies;
  bodies->sure = self->blocks;
  bodies->sure_capacity = self->capacity;
  for (uint32_t i = 0; i < self->count; i++)
    if (self->counted[i]) self->blocks[bodies->sure_count++] = self->blocks[i];
}

bool undead_unsure_doubt(undead_marker *marker) {
  undead_bodies *bodies = marker->bodies;
  unsure_search self = {.marker = marker};
  if (!bodies->met_unsure) return true;
  undead_heap_each(marker->heap, list_unsure, &self);
  bool ok = take_list(&self);
  if (ok && self.count) {
    undead_heap_each(marker->heap, look_into, &self);
    keep_sure(&self);
  }
  bodies->doubts_unsure = true;
  if (ok && self.count) undead_heap_each(marker->heap, look_again, marker);
  if (self.counted) undead_unmap(self.counted, self.capacity * sizeof *self.counted);
  undead_worklist_close(&self.listed);
  return ok;
}

void undead_unsure_close(undead_bodies *bodies) {
  if (bodies->sure) undead_unmap(bodies->sure, bodies->sure_capacity * sizeof *bodies->sure);
  bodies->sure = NULL;
}
