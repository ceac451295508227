#include "scan/suspects/suspect_graph.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"

typedef struct {
  undead_suspects *suspects;
  undead_worklist found;
} handler_search;

static bool add_handlers(void *context, uintptr_t block, uint32_t *word) {
  handler_search *self = context;
  if (!(*word & UNDEAD_WORD_SPECIAL)) return true;
  uintptr_t refs = undead_source_refs_in(self->suspects, block);
  if (!refs) return true;
  size_t size = undead_block_size(block);
  for (int i = 0; i < ABI_SOURCE_HANDLER_COUNT; i++) {
    uintptr_t at = refs + ABI_SOURCE_HANDLERS + (uintptr_t)i * 8;
    if (at + 8 > block + size || !undead_heap_starts(self->suspects->bodies->heap, word_at(at))) continue;
    undead_worklist_push(&self->found, word_at(at));
  }
  return true;
}

bool undead_suspect_handlers_find(undead_suspects *suspects) {
  handler_search self = {.suspects = suspects};
  undead_heap_each(suspects->bodies->heap, add_handlers, &self);
  return undead_worklist_take(&self.found, &suspects->bodies->handlers);
}
