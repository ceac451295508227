// A record of the program may begin with a class and a number, as an object does. Where the class has a weak or unowned field, the
// record may have its only reference to an instance. Mostly a backtrace says who made a block. Without one, a counted reference from
// elsewhere does: the compiler counts objects only. As this is seldom needed, it is found backwards, like in switched.c:
//
//   blocks that are not marked ← weak and unowned words ← counted references to the blocks that have these
//
// Who calls: analysis.c, after the roots and before the counts decide.
#include "scan/mark/mark.h"
#include "platform/memory/memory.h"
#include "platform/processor/words.h"
#include "scan/bodies/references.h"

typedef struct {
  undead_marker *marker;
  undead_worklist listed;
  undead_address_set blocks;   // with such words that name what is not marked
  bool *counted;               // a counted reference names it
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
  if (!undead_worklist_take(&self->listed, &self->blocks)) return false;
  if (self->blocks.count) self->counted = undead_map(self->blocks.count * sizeof *self->counted);
  return !self->blocks.count || self->counted;
}

static void note_counted(void *context, const undead_reference *reference) {
  unsure_search *self = context;
  const undead_address_set *blocks = &self->blocks;
  if (reference->address < blocks->addresses[0] || reference->address > blocks->addresses[blocks->count - 1]) return;
  if (undead_body_evidence(self->body, reference->at) != UNDEAD_EVIDENCE_COUNTED) return;
  uint32_t place = undead_address_set_place(blocks, reference->address);
  if (place < blocks->count) self->counted[place] = true;
}

static bool look_into_unsure(void *context, uintptr_t block, uint32_t *word) {
  unsure_search *self = context;
  if (!(*word & UNDEAD_WORD_MARK)) return true;
  undead_body body;
  undead_body_of(self->marker->bodies, block, undead_heap_block_size(self->marker->heap, block), &body);
  self->body = &body;
  if (body.layout) undead_visit_body(self->marker->heap, block, &body, false, note_counted, self);
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
  undead_address_set *sure = &self->marker->bodies->sure;
  *sure = self->blocks;
  sure->count = 0;
  for (uint32_t i = 0; i < self->blocks.count; i++)
    if (self->counted[i]) sure->addresses[sure->count++] = sure->addresses[i];
}

bool undead_unsure_doubt(undead_marker *marker) {
  undead_bodies *bodies = marker->bodies;
  unsure_search self = {.marker = marker};
  if (!bodies->met_unsure) return true;
  undead_heap_each(marker->heap, list_unsure, &self);
  bool ok = take_list(&self);
  bool any = ok && self.blocks.count;
  if (any) {
    undead_heap_each(marker->heap, look_into_unsure, &self);
    keep_sure(&self);
  }
  bodies->doubts_unsure = true;
  if (any) undead_heap_each(marker->heap, look_again, marker);
  if (self.counted) undead_unmap(self.counted, self.blocks.count * sizeof *self.counted);
  if (!any) undead_address_set_close(&self.blocks);
  return ok;
}
