// Tasks and timers that work on for objects that are gone: all that their closures name weakly is deallocated. One that names an
// object which is alive, or of which nothing is known, is no finding.
#include "scan/suspects/suspect_graph.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"

enum { MOST_DEPTH = 4, LEAST_TABLE = 32, MOST_TABLE = 64 };

// What the closures of a task know weakly.
typedef struct {
  undead_suspects *suspects;
  uintptr_t task, holder;  // whose references are being looked at
  int depth;
  uintptr_t context;       // one that knows an object which is gone
  bool lives;              // one of them is in memory, or it is not known
} owner_search;

// `context` is a closure's, or a proxy; `holder` is what is said to know what it names.
static void look_into_context(owner_search *search, uintptr_t context, uintptr_t holder);

static bool is_gone(const undead_heap *heap, uintptr_t block, undead_kind kind) {
  size_t size = undead_block_size(block);
  if (kind == UNDEAD_KIND_SIDE_TABLE) return undead_is_deiniting(heap, undead_side_table_owner(heap, block, size));
  if (kind != UNDEAD_KIND_OTHER) return undead_is_deiniting(heap, block);
  // A table whose object was freed: the counts stay as they were. Another object may have its place by now.
  return size >= LEAST_TABLE && size <= MOST_TABLE && word_at(block) && word_at(block) % 16 == 0
    && word_at(block + ABI_SIDE_TABLE_COUNTS) & ABI_REFCOUNT_DEINITING && (uint32_t)word_at(block + ABI_SIDE_TABLE_WEAK);
}

// An object that has weak or unowned fields alone, and so does nothing but name another one.
static bool is_proxy(undead_bodies *bodies, uintptr_t block, undead_kind kind) {
  if (kind != UNDEAD_KIND_CLASS) return false;
  undead_body body;
  undead_body_of(bodies, block, undead_block_size(block), &body);
  if (!body.layout) return false;
  uintptr_t first = block + ABI_OBJECT_HEADER, end = block + body.layout->word_count * 8ull;
  for (uintptr_t at = first; at < end; at += 8)
    if (undead_body_evidence(&body, at) != UNDEAD_EVIDENCE_NONE) return false;
  return first < end;
}

static void look_into_proxy(owner_search *search, uintptr_t proxy) {
  uintptr_t holder = search->holder;
  look_into_context(search, proxy, holder);
  search->holder = holder;
}

// What a closure or a proxy names weakly.
static void look_at_name(owner_search *search, uintptr_t block, undead_kind kind) {
  undead_bodies *bodies = search->suspects->bodies;
  if (is_gone(bodies->heap, block, kind)) {
    search->context = search->holder;
    return;
  }
  uintptr_t owner = undead_side_table_owner(bodies->heap, block, undead_block_size(block));
  if (owner) kind = undead_body_kind(bodies, owner, undead_block_size(owner));
  if (search->depth < MOST_DEPTH && is_proxy(bodies, owner ? owner : block, kind)) look_into_proxy(search, owner ? owner : block);
  else search->lives = true;
}

static void look_at_capture(void *context, const undead_reference *reference) {
  owner_search *search = context;
  undead_bodies *bodies = search->suspects->bodies;
  uintptr_t block = undead_heap_block(bodies->heap, reference->address);
  if (!block || search->lives) return;
  undead_kind kind = undead_body_kind(bodies, block, undead_block_size(block));
  if (reference->evidence == UNDEAD_EVIDENCE_NONE) {
    look_at_name(search, block, kind);
  } else if (block == reference->address && search->depth < MOST_DEPTH && is_proxy(bodies, block, kind)) {
    look_into_proxy(search, block);
  } else if (kind == UNDEAD_KIND_CONTEXT && block == reference->address && search->depth < MOST_DEPTH) {
    uintptr_t from = search->holder;
    look_into_context(search, block, block);
    search->holder = from;
  }
}

static void look_into_context(owner_search *search, uintptr_t context, uintptr_t holder) {
  undead_bodies *bodies = search->suspects->bodies;
  undead_body body;
  undead_body_of(bodies, context, undead_block_size(context), &body);
  search->holder = holder;
  search->depth++;
  undead_visit_body(bodies->heap, context, &body, true, look_at_capture, search);
  search->depth--;
}

// Of the memory of a task only contexts of closures matter; a closure that captures one object has that for its context.
static void look_at_frame(void *context, const undead_reference *reference) {
  owner_search *search = context;
  undead_bodies *bodies = search->suspects->bodies;
  uintptr_t block = reference->address;
  if (search->lives || !undead_heap_starts(bodies->heap, block)) return;
  undead_kind kind = undead_body_kind(bodies, block, undead_block_size(block));
  if (kind == UNDEAD_KIND_CONTEXT || is_proxy(bodies, block, kind)) look_into_context(search, block, block);
}

static void look_at_memory(owner_search *search, uintptr_t block) {
  undead_bodies *bodies = search->suspects->bodies;
  undead_body body;
  undead_body_of(bodies, block, undead_block_size(block), &body);
  undead_visit_body(bodies->heap, block, &body, false, look_at_frame, search);
}

static void look_at_slabs(owner_search *search) {
  enum { MOST_SLABS = 64 };
  const undead_bodies *bodies = search->suspects->bodies;
  uintptr_t isa = bodies->stale->slab_isa, slab = word_at(search->task + ABI_TASK_FIRST_SLAB);
  for (int i = 0; i < MOST_SLABS && isa && slab && slab % 8 == 0; i++, slab = word_at(slab + ABI_SLAB_NEXT)) {
    uintptr_t block = undead_heap_resolve(bodies->heap, slab);
    if (!block || word_at(slab) != isa) return;
    if (block != search->task) look_at_memory(search, block);
  }
}

// Suspended, and for something else than its turn.
static bool is_suspended(uintptr_t task) {
  const uint64_t moves = ABI_TASK_RUNNING | ABI_TASK_ENQUEUED | ABI_TASK_COMPLETE;
  return !(*(const uint32_t *)(task + ABI_TASK_STATUS) >> ABI_TASK_STATUS_SHIFT & moves);
}

// The handlers of a timer of libdispatch that repeats; others fire once, or wait for what happens.
static void look_at_handlers(owner_search *search, uintptr_t refs) {
  const undead_suspects *suspects = search->suspects;
  const undead_heap *heap = suspects->bodies->heap;
  uintptr_t end = undead_heap_block(heap, refs) + undead_block_size(undead_heap_block(heap, refs));
  if (!suspects->timer_type || word_at(refs) != suspects->timer_type || refs + ABI_TIMER_INTERVAL + 8 > end) return;
  if (word_at(refs + ABI_TIMER_INTERVAL) >= INT64_MAX) return;
  for (int i = 0; i < ABI_SOURCE_HANDLER_COUNT; i++) {
    uintptr_t handler = word_at(refs + ABI_SOURCE_HANDLERS + (uintptr_t)i * 8);
    if (!undead_heap_starts(heap, handler) || undead_block_size(handler) < ABI_CONTINUATION_DATA) continue;
    uintptr_t called = word_at(handler + ABI_CONTINUATION_FUNCTION + 8);
    if (undead_heap_starts(heap, called) && undead_is_closure_of_c(suspects->bodies, called)) look_at_memory(search, called);
  }
}

// Foundation.Timer: its first field is the timer of Core Foundation, which a run loop has and which fires again and again.
static void look_at_timer(owner_search *search, uintptr_t timer) {
  const undead_heap *heap = search->suspects->bodies->heap;
  uintptr_t fires = word_at(timer + ABI_OBJECT_HEADER);
  if (!undead_heap_starts(heap, fires) || undead_block_size(fires) < ABI_CF_TIMER_INFO + 8) return;
  bool repeats = (intptr_t)word_at(fires + ABI_CF_TIMER_INTERVAL) > 0;   // a number above zero
  if (repeats && word_at(fires + ABI_CF_TIMER_LOOP) && word_at(fires + ABI_CF_TIMER_INFO) == timer) look_at_memory(search, timer);
}

// What `search->task` runs, by what it is. The kind of suspect that it is, if all that it works for is gone.
static uint32_t look_at_work(owner_search *search) {
  undead_suspects *suspects = search->suspects;
  uintptr_t block = search->task, refs;
  const undead_layout *layout = undead_body_layout(suspects->bodies, word_at(block));
  if (!layout) {
    if (undead_is_active_source(suspects, block) && (refs = undead_source_refs_in(suspects, block))) look_at_handlers(search, refs);
    return UNDEAD_SUSPECT_DEAD_OWNER_OF_TIMER;
  }
  if (layout->category == UNDEAD_CATEGORY_FOUNDATION_TIMER) {
    look_at_timer(search, block);
    return UNDEAD_SUSPECT_DEAD_OWNER_OF_TIMER;
  }
  if (layout->kind == UNDEAD_KIND_CONTEXT) {
    look_into_context(search, block, block);
    return UNDEAD_SUSPECT_DEAD_OWNER_OF_OBSERVER;
  }
  if (layout->kind == UNDEAD_KIND_TASK && is_suspended(block)) {
    look_at_memory(search, block);
    look_at_slabs(search);
  }
  return UNDEAD_SUSPECT_DEAD_OWNER;
}

typedef struct {
  undead_suspects *suspects;
  uint32_t max_found;
} runner_search;

static bool look_at_runner(void *context, uintptr_t block, uint32_t *word) {
  runner_search *self = context;
  undead_suspects *suspects = self->suspects;
  if (!(*word & UNDEAD_WORD_SPECIAL) || !(*word & UNDEAD_WORD_MARK) || suspects->found_count == self->max_found) return true;
  owner_search search = {.suspects = suspects, .task = block};
  uint32_t kind = look_at_work(&search);
  if (search.context && !search.lives)
    suspects->found[suspects->found_count++] = (undead_found_suspect){search.context, block, kind};
  return true;
}

void undead_dead_owners_find(undead_suspects *suspects, uint32_t max_found) {
  runner_search self = {suspects, max_found};
  undead_heap_each(suspects->bodies->heap, look_at_runner, &self);
}
