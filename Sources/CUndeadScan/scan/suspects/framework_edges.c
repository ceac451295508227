// References that the framework needs to fire or resume something, and which are therefore none of the program's.
#include "scan/suspects/suspect_graph.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"
#include "world/images.h"

enum { MAX_SLABS = 64, MOST_BYTES_TO_READ = 16 << 10 };

static bool is_swift_object(const undead_layout *layout) { return layout && layout->kind != UNDEAD_KIND_OTHER; }

static bool is_own_slab(const undead_suspects *suspects, uintptr_t task, uintptr_t slab) {
  const undead_heap *heap = suspects->bodies->heap;
  size_t size = undead_block_size(slab);
  uintptr_t at = word_at(task + ABI_TASK_FIRST_SLAB);
  for (int i = 0; i < MAX_SLABS && at; i++, at = word_at(at + ABI_SLAB_NEXT)) {
    if (at >= slab && at < slab + size) return true;
    if (at & 7 || !undead_heap_resolve(heap, at)) return false;
  }
  return false;
}

// The task that a task of a group is part of, 0 for others. Where it says so depends on what else the task has.
static uintptr_t parent_of(const undead_suspects *suspects, uintptr_t task) {
  const undead_heap *heap = suspects->bodies->heap;
  if (!(*(const uint32_t *)(task + ABI_TASK_FLAGS) >> ABI_TASK_IS_CHILD_BIT & 1)) return 0;
  uintptr_t end = task + undead_block_size(task);
  for (uintptr_t at = task + ABI_TASK_FIRST_SLAB + 8; at + 8 <= end && at < task + ABI_TASK_MOST_BYTES; at += 8) {
    uintptr_t word = word_at(at);
    if (word & 15 || !undead_heap_may_hold(heap, word) || !undead_heap_starts(heap, word)) continue;
    const undead_layout *layout = undead_body_layout(suspects->bodies, word_at(word));
    if (layout && layout->kind == UNDEAD_KIND_TASK && word != task) return word;
  }
  return 0;
}

bool undead_is_parent_memory(const undead_suspects *suspects, uintptr_t block, uintptr_t task) {
  const undead_layout *layout = undead_body_layout(suspects->bodies, word_at(task));
  if (!layout || layout->kind != UNDEAD_KIND_TASK) return false;
  uintptr_t parent = parent_of(suspects, task);
  return parent && (parent == block || is_own_slab(suspects, parent, block));
}

typedef struct {
  const undead_heap *heap;
  uintptr_t to;
  bool counted;
} handle_search;

static void look_for_handle(void *context, const undead_reference *reference) {
  handle_search *search = context;
  if (reference->evidence == UNDEAD_EVIDENCE_RAW || undead_is_weak_evidence(reference->evidence)) return;
  search->counted |= undead_heap_block(search->heap, reference->address) == search->to;
}

// A task's handle is a counted reference. A continuation is the task's bare address: who has it resumes the task, and does
// not own it. Of a long array of handles this is not asked for each of them.
static bool has_handle(const undead_suspects *suspects, uintptr_t from, uintptr_t to) {
  size_t size = undead_block_size(from);
  if (size > MOST_BYTES_TO_READ) return true;
  undead_body body;
  undead_body_of(suspects->bodies, from, size, &body);
  handle_search search = {.heap = suspects->bodies->heap, .to = to};
  undead_visit_body(suspects->bodies->heap, from, &body, false, look_for_handle, &search);
  return search.counted;
}

// Whether a reference belongs to the framework that fires or resumes `to`, and not to the program.
bool undead_is_framework_edge(const undead_suspects *suspects, uintptr_t from, uintptr_t to) {
  const undead_layout *source = undead_body_layout(suspects->bodies, word_at(from));
  const undead_layout *target = undead_body_layout(suspects->bodies, word_at(to));
  if (!is_swift_object(target)) {
    if (!undead_is_active_source(suspects, to)) return false;
    // A source owns its `refs`; these do not own it back, and a source does not own the one behind it in a queue.
    if (undead_is_source_memory(suspects, from))
      return word_at(from) != suspects->source_vtable || word_at(to) == suspects->source_vtable;
    if (is_swift_object(source) || undead_entry_of_channel(suspects->bodies, from) == to) return false;
    return (*undead_heap_word(suspects->bodies->heap, from) & UNDEAD_WORD_OWNED)
      || undead_is_dispatch_data(word_at(from));
  }
  // The run loop's own memory holds the items, and nothing else.
  if (undead_is_loop_item(suspects, to, target))
    return (*undead_heap_word(suspects->bodies->heap, from) & UNDEAD_WORD_OWNED) != 0;
  if (target->category == UNDEAD_CATEGORY_FOUNDATION_TIMER) return source && source->category == UNDEAD_CATEGORY_CF;
  if (target->kind == UNDEAD_KIND_CONTEXT) return source && source->category == UNDEAD_CATEGORY_OBSERVER_TABLE;
  if (target->kind != UNDEAD_KIND_TASK) return false;
  if (source && source->kind == UNDEAD_KIND_JOB) return true;
  if (is_swift_object(source)) return source->kind == UNDEAD_KIND_CLASS && source->words && !has_handle(suspects, from, to);
  bool slab = suspects->bodies->stale->slab_isa && word_at(from) == suspects->bodies->stale->slab_isa;
  return !slab || is_own_slab(suspects, to, from);
}
