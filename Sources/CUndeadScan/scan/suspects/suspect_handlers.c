#include "scan/suspects/suspect_graph.h"
#include "platform/memory/memory.h"
#include "platform/memory/sort.h"
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
  undead_bodies *bodies = suspects->bodies;
  handler_search self = {.suspects = suspects};
  undead_heap_each(bodies->heap, add_handlers, &self);
  uint64_t count = undead_worklist_size(&self.found);
  bool ok = !self.found.no_memory && count <= UINT32_MAX;
  if (ok && count) {
    suspects->handler_bytes = count * sizeof *bodies->handlers;
    bodies->handlers = undead_map(suspects->handler_bytes);
    ok = bodies->handlers != NULL;
    for (; ok && bodies->handler_count < count; bodies->handler_count++)
      bodies->handlers[bodies->handler_count] = undead_worklist_pop(&self.found);
    if (ok) undead_sort_words(bodies->handlers, bodies->handler_count);
  }
  undead_worklist_close(&self.found);
  return ok;
}

void undead_suspect_handlers_close(undead_suspects *suspects) {
  undead_bodies *bodies = suspects->bodies;
  if (!bodies || !bodies->handlers) return;
  undead_unmap(bodies->handlers, suspects->handler_bytes);
  bodies->handlers = NULL;
  bodies->handler_count = 0;
}
