#include "scan/bodies/plain.h"
#include "scan/bodies/references.h"
#include "world/given.h"

// Where elements, buffers and frames decide, or looking is not all that is done with it, a body is needed.
static bool is_plain(const undead_layout *layout) {
  if (layout->kind == UNDEAD_KIND_OTHER || layout->kind == UNDEAD_KIND_TASK || layout->category) return false;
  if (layout->deciding.count || layout->storage || layout->buffer_count || layout->word_count > UNDEAD_PLAIN_WORDS) return false;
  for (uint32_t i = 0; i < layout->word_count; i++)
    if (layout->words[i] == UNDEAD_EVIDENCE_BUFFER) return false;
  for (uint32_t i = 0; i < layout->skip_count; i++)
    if (layout->skip[i] % 8 || layout->skip[i] / 8 >= layout->word_count) return false;
  return true;
}

static void describe_layout(undead_plan *plan, const undead_layout *layout) {
  uint64_t skipped = 0;
  for (uint32_t i = 0; i < layout->skip_count; i++) skipped |= 1ull << layout->skip[i] / 8;
  plan->has_weak = skipped != 0;
  plan->word_count = layout->word_count;
  plan->words = layout->words;
  for (uint32_t i = ABI_OBJECT_HEADER / 8; i < layout->word_count; i++) {
    undead_evidence evidence = (undead_evidence)layout->words[i];
    plan->has_weak |= evidence == UNDEAD_EVIDENCE_NONE;
    if (skipped >> i & 1 || evidence == UNDEAD_EVIDENCE_NONE) continue;
    if (!undead_is_untyped(evidence)) {
      plan->references |= 1ull << i;
      continue;
    }
    bool last = i + 1 == layout->word_count;
    undead_evidence next = last ? UNDEAD_EVIDENCE_RAW : (undead_evidence)layout->words[i + 1];
    plan->untyped |= 1ull << i;
    if (next == evidence && (last || !(skipped >> (i + 1) & 1))) plan->straddling |= 1ull << i;
  }
}

void undead_plan_make(undead_plan *plan, undead_bodies *bodies, uintptr_t isa) {
  *plan = (undead_plan){.isa = isa};
  const undead_heap *heap = bodies->heap;
  const undead_layout *layout = undead_body_layout(bodies, isa);
  // A type that lies in a block is a reference; in a copy of another process more is asked of an object.
  if (!layout || !is_plain(layout) || undead_given() || undead_heap_may_hold(heap, layout->isa)) return;
  uintptr_t guard = heap->pointer_guard;   // what setjmp makes of 0, and 0 of it
  plan->zero_is_nothing = !undead_heap_may_hold(heap, 0) && (guard >> UNDEAD_ADDRESS_BITS || !undead_heap_may_hold(heap, guard));
  plan->counted = layout->kind == UNDEAD_KIND_CLASS;
  describe_layout(plan, layout);
  plan->plain = true;
}
