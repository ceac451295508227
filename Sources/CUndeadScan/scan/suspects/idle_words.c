// Words of the frames of suspended tasks that own no object of the program. A frame has room for all that its function may ever
// keep, and what has not been written yet is left by calls that ended. Of code of the program nobody can say which word that is;
// but the innermost frames of a task that waits are those of the concurrency runtime (`sleep`, `next`, `value`), which own
// nothing of the program that counts: what a caller lends them, its own frame has. Nor does an address inside of an object own it.
#include "scan/suspects/suspect_graph.h"
#include "platform/maps/maps.h"
#include "runtime/abi.h"
#include "scan/stacks/stale.h"
#include "world/images.h"
#include "platform/system/text.h"

enum { MOST_FRAMES = 256, MOST_SLABS = 64 };

typedef struct {
  undead_suspects *suspects;
  undead_worklist bounds;   // low, high, low, high, ...
} frame_search;

// `sleep` is compiled into the programs that call it.
static bool is_function_of_runtime(uintptr_t function) {
  static const char *const emitted[] = {"$sScTss5NeverORszABRs_rlE5sleep", "$ss5ClockPsE5sleep"};
  const undead_module *module = undead_module_of(function);
  if (!module) return false;
  if (module->toolchain) return undead_in(undead_image_facts.concurrency, function);
  const char *name = undead_symbol_name(function, NULL);
  for (size_t i = 0; i < sizeof emitted / sizeof *emitted; i++)
    if (undead_starts_with(name, emitted[i])) return true;
  return false;
}

static bool is_in_block(const undead_heap *heap, uintptr_t address, size_t bytes) {
  uintptr_t block = address & 7 || !undead_heap_may_hold(heap, address) ? 0 : undead_heap_resolve(heap, address);
  return block && address + bytes <= block + undead_block_size(block);
}

// Where the outermost of the innermost frames begins that are all of the runtime, 0 if there is none.
static uintptr_t first_frame_of_runtime(const undead_heap *heap, uintptr_t task) {
  uintptr_t function = word_at(task + ABI_TASK_RESUME_FUNCTION), context = word_at(task + ABI_TASK_RESUME_CONTEXT), first = 0;
  for (int i = 0; i < MOST_FRAMES && is_in_block(heap, context, ABI_ASYNC_CONTEXT_RESUME + 8) && is_function_of_runtime(function); i++) {
    first = context;
    function = word_at(context + ABI_ASYNC_CONTEXT_RESUME);
    context = word_at(context + ABI_ASYNC_CONTEXT_PARENT);
  }
  return first;
}

static bool add_task(void *context, uintptr_t block, uint32_t *word) {
  frame_search *self = context;
  const undead_bodies *bodies = self->suspects->bodies;
  if (!(*word & UNDEAD_WORD_SPECIAL) || undead_block_size(block) < ABI_TASK_FIRST_SLAB + 8) return true;
  const undead_layout *layout = undead_body_layout(self->suspects->bodies, word_at(block));
  uintptr_t first = layout && layout->kind == UNDEAD_KIND_TASK ? first_frame_of_runtime(bodies->heap, block) : 0;
  uintptr_t slab = first ? word_at(block + ABI_TASK_FIRST_SLAB) : 0;
  bool found = false;
  for (int i = 0; i < MOST_SLABS && is_in_block(bodies->heap, slab, ABI_SLAB_HEADER); i++, slab = word_at(slab + ABI_SLAB_NEXT)) {
    if (word_at(slab) != bodies->stale->slab_isa) break;
    uintptr_t high = slab + ABI_SLAB_HEADER + *(const uint32_t *)(slab + ABI_SLAB_CAPACITY);
    bool here = !found && first > slab && first < high;
    if (!here && !found) continue;
    found = true;
    undead_worklist_push(&self->bounds, here ? first : slab + ABI_SLAB_HEADER);
    undead_worklist_push(&self->bounds, high);
  }
  return true;
}

bool undead_idle_words_find(undead_suspects *suspects) {
  frame_search self = {.suspects = suspects};
  if (suspects->bodies->stale->slab_isa) undead_heap_each(suspects->bodies->heap, add_task, &self);
  return undead_worklist_take(&self.bounds, &suspects->idle);
}

bool undead_is_idle_word(const undead_suspects *suspects, const undead_reference *reference) {
  if (reference->evidence != UNDEAD_EVIDENCE_PERHAPS) return false;
  uintptr_t block = undead_heap_block(suspects->bodies->heap, reference->address);
  const undead_layout *layout = block ? undead_body_layout(suspects->bodies, word_at(block)) : NULL;
  if (!layout || layout->kind != UNDEAD_KIND_CLASS || !layout->user_type) return false;
  if (reference->address != block) return true;
  // The frames do not overlap: behind an odd number of bounds lies one of them.
  uint32_t low = 0, high = suspects->idle.count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (suspects->idle.addresses[middle] <= reference->at) low = middle + 1;
    else high = middle;
  }
  return low & 1;
}
