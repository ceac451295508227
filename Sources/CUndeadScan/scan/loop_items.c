// Items of run loops as things that fire. A loop reaches them through memory of its own, which is found from the loop
// object: whatever it reaches without passing an object or a closure of the program.
#include "runtime/abi.h"
#include "scan/suspect_graph.h"

static uint64_t word_at(uintptr_t address) { return *(const uint64_t *)address; }

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

static void own(const undead_suspects *suspects, undead_worklist *list, uintptr_t block) {
  uint32_t *word = undead_heap_word(suspects->bodies->heap, block);
  if (*word & UNDEAD_WORD_OWNED) return;
  *word |= UNDEAD_WORD_OWNED;
  undead_worklist_push(list, block);
}

static void own_from(undead_suspects *suspects, undead_worklist *list, uintptr_t block) {
  undead_body body;
  undead_body_of(suspects->bodies, block, undead_block_size(block), &body);
  uint32_t skip = 0;
  for (uintptr_t at = body.low; at < body.high; at += 8) {
    while (skip < body.skip_count && body.skip[skip] < at - block) skip++;
    if (skip < body.skip_count && body.skip[skip] == at - block) continue;
    if (body.elements.range_count && undead_elements_skip(&body.elements, at)) continue;
    uintptr_t target = undead_heap_resolve(suspects->bodies->heap, word_at(at));
    if (target && is_of_loop(suspects, target)) own(suspects, list, target);
  }
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
  undead_worklist list = {0};
  for (uint32_t i = 0; i < options->loop_item_count; i++) {
    uintptr_t loop = options->loop_items[i].loop;
    if (undead_heap_starts(heap, loop)) own(suspects, &list, loop);
  }
  for (uintptr_t block; (block = undead_worklist_pop(&list));) own_from(suspects, &list, block);
  bool ok = !list.no_memory;
  undead_worklist_close(&list);
  return ok;
}
