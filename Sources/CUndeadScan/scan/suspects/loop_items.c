// Items of run loops as things that fire. A loop reaches them through memory of its own, which is found from the loop
// object: whatever it reaches without passing an object or a closure of the program.
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"
#include "scan/suspects/suspect_graph.h"

bool undead_is_loop_item(const undead_suspects *suspects, uintptr_t block, const undead_layout *layout) {
  // Of blocks of these kinds only items are tagged.
  bool plain = layout && layout->kind == UNDEAD_KIND_CLASS && layout->category == UNDEAD_CATEGORY_NONE;
  return plain && *undead_heap_word(suspects->bodies->heap, block) & UNDEAD_WORD_SPECIAL;
}

static bool is_of_loop(const undead_suspects *suspects, uintptr_t block) {
  const undead_layout *layout = undead_body_layout(suspects->bodies, word_at(block));
  if (undead_is_loop_item(suspects, block, layout) || undead_is_source_memory(suspects, block)) return false;
  if (!layout || layout->kind == UNDEAD_KIND_OTHER) return true;
  return layout->kind == UNDEAD_KIND_CLASS && !layout->user_type;
}

typedef struct {
  undead_suspects *suspects;
  undead_worklist list;
} loop_search;

static void own_item(loop_search *search, uintptr_t block) {
  uint32_t *word = undead_heap_word(search->suspects->bodies->heap, block);
  if (*word & UNDEAD_WORD_OWNED) return;
  *word |= UNDEAD_WORD_OWNED;
  undead_worklist_push(&search->list, block);
}

static void own_reference(void *context, const undead_reference *reference) {
  loop_search *search = context;
  uintptr_t block = undead_heap_block(search->suspects->bodies->heap, reference->address);
  if (block && is_of_loop(search->suspects, block)) own_item(search, block);
}

static void own_from(loop_search *search, uintptr_t block) {
  undead_bodies *bodies = search->suspects->bodies;
  undead_body body;
  undead_body_of(bodies, block, undead_block_size(block), &body);
  undead_visit_body(bodies->heap, block, &body, false, own_reference, search);
}

bool undead_loop_items_tag(undead_suspects *suspects) {
  const undead_heap *heap = suspects->bodies->heap;
  const undead_scan_options *options = suspects->options;
  for (uint32_t i = 0; i < options->loop_item_count; i++) {
    uintptr_t block = options->loop_items[i].object;
    if (!undead_heap_starts(heap, block) || !(*undead_heap_word(heap, block) & UNDEAD_WORD_MARK)) continue;
    *undead_heap_word(heap, block) |= UNDEAD_WORD_SPECIAL;
    suspects->seen = true;
  }
  loop_search search = {.suspects = suspects};
  for (uint32_t i = 0; i < options->loop_item_count; i++) {
    uintptr_t loop = options->loop_items[i].loop;
    if (undead_heap_starts(heap, loop)) own_item(&search, loop);
  }
  for (uintptr_t block; (block = undead_worklist_pop(&search.list));) own_from(&search, block);
  bool ok = !search.list.no_memory;
  undead_worklist_close(&search.list);
  return ok;
}
