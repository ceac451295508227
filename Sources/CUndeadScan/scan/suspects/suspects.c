#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/suspects/suspects.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"
#include "scan/suspects/suspect_graph.h"
#include "scan/suspects/suspect_handlers.h"
#include "scan/suspects/suspect_owners.h"
#include "world/images.h"
#include <stdio.h>
#include <string.h>

#define MAX_TABLES 4096u
#define MAX_FOUND (1u << 16)
#define MAX_LINKS (1u << 16)

enum {
  SOURCE_BYTES = 104,       // the least that a dispatch source or its `refs` takes
  TABLE_VALUE_BYTES = 16,   // a closure: function, context
  MAX_SLABS = 64,
};

static void find_source_types(undead_suspects *suspects) {
  static const char *const names[] = {"timer", "after", "read", "write", "signal", "data_add", "data_or", "data_replace",
                                      "timer_with_clock", "interval", "mach_recv", "proc", "vnode"};
  const undead_module *module = undead_module_of(undead_image_facts.dispatch_image.low);
  if (!module) return;
  suspects->source_vtable = undead_symbol_address(module, "__OS_dispatch_source_vtable", NULL);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char name[64];
    size_t size = 0;
    snprintf(name, sizeof name, "_dispatch_source_type_%s", names[i]);
    uintptr_t low = undead_symbol_address(module, name, &size);
    if (!low) continue;
    if (!suspects->source_types_low || low < suspects->source_types_low) suspects->source_types_low = low;
    if (low + size > suspects->source_types_high) suspects->source_types_high = low + size;
  }
}

// The library of closures of C is one of its own, but where all of the toolchain is linked into the program.
static void find_closures_of_c(undead_bodies *bodies) {
  const undead_module *dispatch = undead_module_of(undead_image_facts.dispatch_image.low);
  for (size_t i = 0; !bodies->closure_of_c && i < undead_module_count(); i++) {
    const undead_module *module = undead_module_at(i);
    if (module != dispatch && !strstr(module->path, "/libBlocksRuntime.so")) continue;
    bodies->closure_of_c = undead_symbol_address(module, "_NSConcreteMallocBlock", NULL);
  }
}

bool undead_suspects_open(undead_suspects *suspects, undead_bodies *bodies, const undead_scan_options *options) {
  *suspects = (undead_suspects){.bodies = bodies, .options = options};
  find_source_types(suspects);
  find_closures_of_c(bodies);
  suspects->tables = undead_map(MAX_TABLES * sizeof *suspects->tables);
  suspects->found = undead_map(MAX_FOUND * sizeof *suspects->found);
  suspects->links = undead_map(MAX_LINKS * sizeof *suspects->links);
  if (suspects->tables && suspects->found && suspects->links) return true;
  undead_suspects_close(suspects);
  return false;
}

void undead_suspects_close(undead_suspects *suspects) {
  if (suspects->tables) undead_unmap(suspects->tables, MAX_TABLES * sizeof *suspects->tables);
  if (suspects->found) undead_unmap(suspects->found, MAX_FOUND * sizeof *suspects->found);
  if (suspects->links) undead_unmap(suspects->links, MAX_LINKS * sizeof *suspects->links);
  undead_mark_close(&suspects->again);
  undead_worklist_close(&suspects->members);
  undead_suspect_handlers_close(suspects);
  *suspects = (undead_suspects){0};
}

static bool is_source_type(const undead_suspects *suspects, uintptr_t word) {
  return word >= suspects->source_types_low && word < suspects->source_types_high;
}

// The source whose `refs` are at `refs`, 0 if there is none: only libdispatch lets the two refer to each other so. That the
// types of sources are exported, and may be in any table of the program, does not matter.
static uintptr_t source_of(const undead_suspects *suspects, uintptr_t refs) {
  if (!is_source_type(suspects, word_at(refs))) return 0;
  uintptr_t source = undead_heap_resolve(suspects->bodies->heap, ~word_at(refs + ABI_UNOTE_OWNER));
  if (!source || undead_block_size(source) < SOURCE_BYTES || word_at(source) != suspects->source_vtable) return 0;
  return word_at(source + ABI_SOURCE_REFS) == refs ? source : 0;
}

// The `refs` of sources on descriptors and signals follow their link in the list of all that wait for the same.
uintptr_t undead_source_refs_in(const undead_suspects *suspects, uintptr_t block) {
  if (!suspects->source_vtable || undead_block_size(block) < SOURCE_BYTES) return 0;
  if (source_of(suspects, block)) return block;
  return source_of(suspects, block + ABI_UNOTE_LINKAGE_BYTES) ? block + ABI_UNOTE_LINKAGE_BYTES : 0;
}

static uintptr_t source_of_memory(const undead_suspects *suspects, uintptr_t block) {
  if (!suspects->source_vtable || undead_block_size(block) < SOURCE_BYTES) return 0;
  if (word_at(block) == suspects->source_vtable) return block;
  uintptr_t refs = undead_source_refs_in(suspects, block);
  return refs ? source_of(suspects, refs) : 0;
}

bool undead_is_source_memory(const undead_suspects *suspects, uintptr_t block) {
  return source_of_memory(suspects, block) != 0;
}

// A cancelled source fires no more, and lets go of its handlers when its queue has time.
static bool is_cancelled(const undead_suspects *suspects, uintptr_t block) {
  uintptr_t source = source_of_memory(suspects, block);
  return source && *(const uint32_t *)(source + ABI_SOURCE_FLAGS) & ABI_SOURCE_CANCELLED;
}

static bool is_active_source(const undead_suspects *suspects, uintptr_t block) {
  return undead_is_source_memory(suspects, block) && !is_cancelled(suspects, block);
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

static void tag_registration(void *context, uintptr_t closure, uint64_t key) {
  (void)key;
  const undead_suspects *suspects = context;
  undead_heap_set(suspects->bodies->heap, closure, UNDEAD_WORD_SPECIAL);
}

uint32_t undead_suspects_note(undead_marker *marker, uintptr_t block, size_t size, const undead_body *body) {
  undead_suspects *suspects = marker->context;
  const undead_layout *layout = body->layout;
  bool special = false;
  if (!layout) {
    special = size >= SOURCE_BYTES && undead_is_source_memory(suspects, block);
  } else if (layout->category == UNDEAD_CATEGORY_OBSERVER_TABLE) {
    if (suspects->table_count < MAX_TABLES) suspects->tables[suspects->table_count++] = block;
    undead_each_registration(suspects, block, tag_registration, suspects);
    suspects->seen = true;
  } else {
    special = layout->kind == UNDEAD_KIND_TASK || layout->category == UNDEAD_CATEGORY_FOUNDATION_TIMER;
  }
  if (special) __atomic_store_n(&suspects->seen, true, __ATOMIC_RELAXED);
  return special ? UNDEAD_WORD_SPECIAL : 0;
}

static bool is_swift(const undead_layout *layout) { return layout && layout->kind != UNDEAD_KIND_OTHER; }

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

// Whether a reference belongs to the framework that fires or resumes `to`, and not to the program.
bool undead_is_framework_edge(const undead_suspects *suspects, uintptr_t from, uintptr_t to) {
  const undead_layout *source = undead_body_layout(suspects->bodies, word_at(from));
  const undead_layout *target = undead_body_layout(suspects->bodies, word_at(to));
  if (!is_swift(target)) {
    if (!is_active_source(suspects, to)) return false;
    // A source owns its `refs`; these do not own it back, and a source does not own the one behind it in a queue.
    if (undead_is_source_memory(suspects, from))
      return word_at(from) != suspects->source_vtable || word_at(to) == suspects->source_vtable;
    if (is_swift(source)) return false;
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
  if (is_swift(source)) return false;
  bool slab = suspects->bodies->stale->slab_isa && word_at(from) == suspects->bodies->stale->slab_isa;
  return !slab || is_own_slab(suspects, to, from);
}

// A Swift program holds a source by the object that wraps it: a bare one on a stack is held by libdispatch, which calls
// its handler or did so last.
static bool is_of_thread(const undead_suspects *suspects, uintptr_t place) {
  for (uint32_t i = 0; i < suspects->roots->count; i++) {
    const undead_root *root = &suspects->roots->roots[i];
    if (place >= root->low && place < root->high)
      return root->kind == UNDEAD_ROOT_STACK || root->kind == UNDEAD_ROOT_REGISTER;
  }
  return false;
}

static bool cut(const undead_marker *marker, uintptr_t from, uintptr_t offset, uintptr_t to) {
  const undead_suspects *suspects = marker->context;
  if (from) return undead_is_framework_edge(suspects, from, to);
  const undead_layout *target = undead_body_layout(suspects->bodies, word_at(to));
  bool of_dispatch = undead_is_dispatch_data(offset);
  if (is_swift(target)) return of_dispatch && target->kind == UNDEAD_KIND_TASK;
  return is_active_source(suspects, to) && (of_dispatch || is_of_thread(suspects, offset));
}

typedef struct {
  undead_suspects *suspects;
  undead_worklist list;
} owned_search;

static void own(void *context, const undead_reference *reference) {
  owned_search *search = context;
  undead_suspects *suspects = search->suspects;
  const undead_heap *heap = suspects->bodies->heap;
  uintptr_t block = undead_heap_block(heap, reference->address);
  if (!block || is_swift(undead_body_layout(suspects->bodies, word_at(block)))) return;
  uint32_t *registered = undead_heap_word(heap, block);
  if (*registered & UNDEAD_WORD_OWNED) return;
  *registered |= UNDEAD_WORD_OWNED;
  undead_worklist_push(&search->list, block);
}

// Blocks that libdispatch's globals reach through blocks that are no Swift objects: its own.
static bool find_owned(undead_suspects *suspects) {
  owned_search search = {.suspects = suspects};
  const undead_heap *heap = suspects->bodies->heap;
  for (uint32_t i = 0; i < suspects->roots->count; i++) {
    const undead_root *root = &suspects->roots->roots[i];
    undead_interval image = undead_image_facts.dispatch_image;
    if (root->kind != UNDEAD_ROOT_GLOBAL || root->high <= image.low || root->low >= image.high) continue;
    for (uintptr_t at = root->low; at < root->high; at += 8)
      if (undead_is_dispatch_data(at)) undead_walk_word(heap, at, UNDEAD_EVIDENCE_RAW, own, &search);
  }
  for (uintptr_t block; (block = undead_worklist_pop(&search.list));) {
    undead_body body;
    undead_body_of(suspects->bodies, block, undead_block_size(block), &body);
    undead_walk_body(heap, block, &body, false, own, &search);
  }
  bool ok = !search.list.no_memory;
  undead_worklist_close(&search.list);
  return ok;
}

bool undead_suspects_find(undead_suspects *suspects, const undead_roots *roots) {
  if (!undead_loop_items_tag(suspects)) return false;
  if (!suspects->seen) return true;
  suspects->roots = roots;
  suspects->again = (undead_marker){.bodies = suspects->bodies, .heap = suspects->bodies->heap,
                                    .bit = UNDEAD_WORD_MARK_AGAIN, .within = UNDEAD_WORD_MARK,
                                    .weak = UNDEAD_WEAK_IS_LISTED, .cut = cut, .context = suspects};
  if (!undead_suspect_handlers_find(suspects) || !find_owned(suspects) || !undead_mark_roots(&suspects->again, roots)) return false;
  undead_suspect_owners owners;
  bool ok = undead_suspect_owners_open(&owners, suspects)
    && undead_suspect_graph_search(suspects, &owners, MAX_FOUND, MAX_LINKS);
  undead_suspect_owners_close(&owners);
  return ok;
}
#endif
