// Whether a block has an owner besides the words that may be stale: references that own it are counted, and compared with its
// count.
#include "scan/suspects/suspect_graph.h"
#include "platform/memory/memory.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"

static bool is_held(uint32_t word) { return word & UNDEAD_WORD_MARK && !(word & UNDEAD_WORD_MARK_AGAIN); }

static undead_kind kind_of_block(const undead_suspect_owners *self, uintptr_t block) {
  return undead_body_kind(self->suspects->bodies, block, undead_block_size(block));
}

static void count_owner(void *context, const undead_reference *reference) {
  undead_suspect_owners *self = context;
  uintptr_t block = undead_heap_block(self->heap, reference->address);
  if (!block || block == self->body->block || undead_is_weak_evidence(reference->evidence)) return;
  undead_tallied *held = undead_tally_find(&self->tally, block);
  if (!held) return;
  undead_kind kind = kind_of_block(self, block);
  // Memory without a count is owned by whatever refers to it.
  held->counted += kind == UNDEAD_KIND_OTHER
    || (reference->address == block && undead_is_owning_word(self->suspects->bodies, self->body, reference->at, kind));
}

static void count_owners(undead_suspect_owners *self) {
  for (uint32_t i = 0; i < self->tally.count; i++) {
    uintptr_t block = self->tally.blocks[i].block;
    undead_body body;
    undead_body_of(self->suspects->bodies, block, undead_block_size(block), &body);
    self->body = &body;
    undead_visit_body(self->heap, block, &body, false, count_owner, self);
  }
}

static bool is_owned_here(const undead_suspect_owners *self, const undead_tallied *held) {
  uint64_t owners = held->counted;
  switch (kind_of_block(self, held->block)) {
  case UNDEAD_KIND_OTHER:
    return undead_is_closure_of_c(self->suspects->bodies, held->block) ? owners >= undead_count_of_closure(held->block) : owners > 0;
  case UNDEAD_KIND_CLASS:
  case UNDEAD_KIND_CONTEXT:
  case UNDEAD_KIND_GENERIC_BOX:
  case UNDEAD_KIND_ERROR:
  case UNDEAD_KIND_TASK:
    // What fires or resumes a thing owns it once.
    owners += (*undead_heap_word(self->heap, held->block) & UNDEAD_WORD_SPECIAL) != 0;
    return undead_strong_count(self->heap, held->block) == owners;
  default:
    return false;
  }
}

bool undead_suspect_is_owned(const undead_suspect_owners *owners, uintptr_t block) {
  const undead_tallied *held = undead_tally_find(&owners->tally, block);
  return held && is_owned_here(owners, held);
}

bool undead_suspect_owners_open(undead_suspect_owners *owners, undead_suspects *suspects) {
  undead_marker *again = &suspects->again;
  *owners = (undead_suspect_owners){.suspects = suspects, .heap = suspects->bodies->heap};
  if (!undead_tally_list(&owners->tally, suspects->bodies, UNDEAD_WORD_MARK, UNDEAD_WORD_MARK_AGAIN)) return false;
  count_owners(owners);
  for (uintptr_t listed; (listed = undead_worklist_pop(&again->doubted));) {
    uintptr_t block = listed & ~(uintptr_t)UNDEAD_NAMED_BY_PLACE;
    if (!is_held(*undead_heap_word(owners->heap, block)) || undead_suspect_is_owned(owners, block)) continue;
    if (!undead_mark_from(again, block, UINT64_MAX)) return false;
  }
  return !again->doubted.no_memory;
}

void undead_suspect_owners_close(undead_suspect_owners *owners) { undead_tally_close(&owners->tally); }
