#include "scan/suspect_owners.h"
#include "platform/memory.h"
#include "platform/words.h"
#include "runtime/abi.h"
#include "scan/references.h"

static bool is_held(uint32_t word) { return word & UNDEAD_WORD_MARK && !(word & UNDEAD_WORD_MARK_AGAIN); }

static bool count_held(void *context, uintptr_t block, uint32_t *word) {
  (void)block;
  ((undead_suspect_owners *)context)->count += is_held(*word);
  return true;
}

static bool list_held(void *context, uintptr_t block, uint32_t *word) {
  undead_suspect_owners *self = context;
  if (is_held(*word)) self->blocks[self->count++].block = block;
  return true;
}

static bool is_closure_of_c(const undead_suspect_owners *self, uintptr_t block) {
  uintptr_t type = self->suspects->closure_of_c;
  return type && word_at(block) == type && undead_block_size(block) >= ABI_BLOCK_HEADER;
}

static uint32_t count_of_closure(uintptr_t block) {
  return (*(const uint32_t *)(block + ABI_BLOCK_FLAGS) & ABI_BLOCK_COUNT_MASK) / 2;
}

static undead_kind kind_of(const undead_suspect_owners *self, uintptr_t block) {
  return undead_body_kind(self->suspects->bodies, block, undead_block_size(block));
}

static bool is_owner(const undead_suspect_owners *self, const undead_reference *reference, uintptr_t block) {
  if (undead_is_weak_evidence(reference->evidence)) return false;
  undead_kind kind = kind_of(self, block);
  if (kind == UNDEAD_KIND_OTHER) return true;
  if (reference->address != block) return false;
  if (self->in_closure) return reference->at == self->body->block + ABI_BLOCK_HEADER + 8;
  const undead_layout *layout = self->body->layout;
  if (!layout) return false;
  // A task owns the closure that it runs: FutureAsyncContextPrefix, in the task's own block.
  if (layout->kind == UNDEAD_KIND_TASK && kind == UNDEAD_KIND_CONTEXT) return reference->at < self->body->frames;
  return undead_body_evidence(self->body, reference->at) == UNDEAD_EVIDENCE_COUNTED;
}

static void count_owner(void *context, const undead_reference *reference) {
  undead_suspect_owners *self = context;
  uintptr_t block = undead_heap_block(self->heap, reference->address);
  if (!block || block == self->body->block) return;
  uint32_t index = undead_address_index_of(&self->index, block);
  if (index != UINT32_MAX && is_owner(self, reference, block)) self->blocks[index].owners++;
}

static void count_owners(undead_suspect_owners *self) {
  for (uint32_t i = 0; i < self->count; i++) {
    uintptr_t block = self->blocks[i].block;
    undead_body body;
    undead_body_of(self->suspects->bodies, block, undead_block_size(block), &body);
    self->body = &body;
    self->in_closure = !body.layout && is_closure_of_c(self, block);
    undead_walk_body(self->heap, block, &body, false, count_owner, self);
  }
}

static bool list_all(undead_suspect_owners *self) {
  undead_heap_each(self->heap, count_held, self);
  self->capacity = self->count;
  self->blocks = undead_map((self->capacity + 1ull) * sizeof *self->blocks);
  if (!self->blocks) return false;
  self->count = 0;
  undead_heap_each(self->heap, list_held, self);
  return undead_address_index_open(&self->index, self->blocks, sizeof *self->blocks, self->count);
}

static bool is_owned_here(const undead_suspect_owners *self, const undead_held_block *held) {
  uint64_t owners = held->owners;
  switch (kind_of(self, held->block)) {
  case UNDEAD_KIND_OTHER:
    return is_closure_of_c(self, held->block) ? owners >= count_of_closure(held->block) : owners > 0;
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
  uint32_t index = undead_address_index_of(&owners->index, block);
  return index != UINT32_MAX && is_owned_here(owners, &owners->blocks[index]);
}

bool undead_suspect_owners_open(undead_suspect_owners *owners, undead_suspects *suspects) {
  undead_marker *again = &suspects->again;
  *owners = (undead_suspect_owners){.suspects = suspects, .heap = suspects->bodies->heap};
  if (!list_all(owners)) return false;
  count_owners(owners);
  for (uintptr_t listed; (listed = undead_worklist_pop(&again->doubted));) {
    uintptr_t block = listed & ~(uintptr_t)UNDEAD_NAMED_BY_PLACE;
    if (!is_held(*undead_heap_word(owners->heap, block)) || undead_suspect_is_owned(owners, block)) continue;
    if (!undead_mark_from(again, block, UINT64_MAX)) return false;
  }
  return !again->doubted.no_memory;
}

void undead_suspect_owners_close(undead_suspect_owners *owners) {
  undead_address_index_close(&owners->index);
  if (owners->blocks) undead_unmap(owners->blocks, (owners->capacity + 1ull) * sizeof *owners->blocks);
}
