// What fires by itself, as it lies in memory: sources of libdispatch with their `refs`, and NotificationCenter's tables of closures.
#include "scan/suspects/suspect_graph.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"
#include "scan/counts/tally.h"
#include "world/images.h"

#define CONTINUATION_CONTEXT (ABI_CONTINUATION_FUNCTION + 8)

enum {
  TABLE_VALUE_BYTES = 16,   // a closure: function, context
};

// The source whose `refs` are at `refs`, 0 if there is none: they begin with their type, and only libdispatch lets the two refer to
// each other so. That the types of sources are exported, and may be in any table of the program, does not matter.
static uintptr_t source_of(const undead_suspects *suspects, uintptr_t refs) {
  if (!undead_in(undead_image_facts.dispatch_image, word_at(refs))) return 0;
  uintptr_t source = undead_heap_resolve(suspects->bodies->heap, ~word_at(refs + ABI_UNOTE_OWNER));
  if (!source || undead_block_size(source) < UNDEAD_SOURCE_BYTES || word_at(source) != suspects->source_vtable) return 0;
  return word_at(source + ABI_SOURCE_REFS) == refs ? source : 0;
}

// The `refs` of sources on descriptors and signals follow their link in the list of all that wait for the same.
uintptr_t undead_source_refs_in(const undead_suspects *suspects, uintptr_t block) {
  if (!suspects->source_vtable || undead_block_size(block) < UNDEAD_SOURCE_BYTES) return 0;
  if (source_of(suspects, block)) return block;
  return source_of(suspects, block + ABI_UNOTE_LINKAGE_BYTES) ? block + ABI_UNOTE_LINKAGE_BYTES : 0;
}

static uintptr_t source_of_memory(const undead_suspects *suspects, uintptr_t block) {
  if (!suspects->source_vtable || undead_block_size(block) < UNDEAD_SOURCE_BYTES) return 0;
  if (word_at(block) == suspects->source_vtable) return block;
  uintptr_t refs = undead_source_refs_in(suspects, block);
  return refs ? source_of(suspects, refs) : 0;
}

// libdispatch, io_internal.h: what dispatch_stream_s begins with.
typedef struct {
  uintptr_t queue, source;
} dispatch_stream;

// The source that wakes a channel which reads or writes: libdispatch made it, and its handlers are none of the program's. It has
// the stream for its context, and the stream's queue.
bool undead_is_source_of_stream(const undead_suspects *suspects, uintptr_t block) {
  const undead_heap *heap = suspects->bodies->heap;
  uintptr_t source = source_of_memory(suspects, block);
  for (uintptr_t at = source; source && at < source + ABI_SOURCE_FLAGS; at += 8) {
    if (!undead_heap_starts(heap, word_at(at)) || undead_block_size(word_at(at)) < sizeof(dispatch_stream)) continue;
    const dispatch_stream *stream = (const dispatch_stream *)word_at(at);
    if (stream->source == source && undead_heap_starts(heap, stream->queue)) return true;
  }
  return false;
}

bool undead_is_source_memory(const undead_suspects *suspects, uintptr_t block) {
  return source_of_memory(suspects, block) != 0;
}

// A cancelled source fires no more, and lets go of its handlers when its queue has time.
static bool is_cancelled(const undead_suspects *suspects, uintptr_t block) {
  uintptr_t source = source_of_memory(suspects, block);
  return source && *(const uint32_t *)(source + ABI_SOURCE_FLAGS) & ABI_SOURCE_CANCELLED;
}

// Only channels give memory of C that is neither a source nor an operation the mark of what fires.
static bool is_entry(const undead_suspects *suspects, uintptr_t block) {
  return *undead_heap_word(suspects->bodies->heap, block) & UNDEAD_WORD_SPECIAL && !undead_is_source_memory(suspects, block)
    && !undead_body_layout(suspects->bodies, word_at(block));
}

bool undead_is_active_source(const undead_suspects *suspects, uintptr_t block) {
  return undead_is_operation(suspects, block) || is_entry(suspects, block)
    || (undead_is_source_memory(suspects, block) && !is_cancelled(suspects, block));
}

void undead_each_handler_block(const undead_suspects *suspects, uintptr_t refs, void (*visit)(void *context, uintptr_t block),
                               void *context) {
  const undead_heap *heap = suspects->bodies->heap;
  uintptr_t end = undead_heap_block(heap, refs) + undead_block_size(undead_heap_block(heap, refs));
  for (int i = 0; i < ABI_SOURCE_HANDLER_COUNT; i++) {
    uintptr_t at = refs + ABI_SOURCE_HANDLERS + (uintptr_t)i * 8;
    if (at + 8 > end || !undead_heap_starts(heap, word_at(at))) continue;
    uintptr_t called = word_at(at) + CONTINUATION_CONTEXT;
    if (undead_block_size(word_at(at)) < CONTINUATION_CONTEXT + 8 || !undead_heap_starts(heap, word_at(called))) continue;
    uintptr_t block = word_at(called);
    if (undead_is_closure_of_c(suspects->bodies, block) && undead_count_of_closure(block) > 1) visit(context, block);
  }
}

// The closures of a table are what fires; `visit` gets each one with the key of its registration.
void undead_each_registration(const undead_suspects *suspects, uintptr_t table,
                              void (*visit)(void *context, uintptr_t closure, uint64_t key), void *context) {
  size_t size = undead_block_size(table);
  if (size < ABI_DICTIONARY_VALUES + 8) return;
  uintptr_t keys = word_at(table + ABI_DICTIONARY_KEYS), values = word_at(table + ABI_DICTIONARY_VALUES), end = table + size;
  if (keys < table || keys > values || values > end || (keys | values) & 7) return;
  for (uintptr_t at = values + 8; at + 8 <= end; at += TABLE_VALUE_BYTES) {
    uintptr_t closure = undead_heap_resolve(suspects->bodies->heap, word_at(at));
    uintptr_t key = keys + (at - values) / TABLE_VALUE_BYTES * 8;
    if (!closure || key + 8 > values) continue;
    const undead_layout *layout = undead_body_layout(suspects->bodies, word_at(closure));
    if (layout && layout->kind == UNDEAD_KIND_CONTEXT) visit(context, closure, word_at(key));
  }
}
