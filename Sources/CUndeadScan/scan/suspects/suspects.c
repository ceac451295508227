#include "scan/suspects/suspects.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"
#include "scan/suspects/suspect_graph.h"
#include "world/images.h"
#include <string.h>

#define MAX_TABLES 4096u
#define MAX_FOUND (1u << 16)
#define MAX_LINKS (1u << 16)

static void find_sources(undead_suspects *suspects) {
  const undead_module *module = undead_module_of(undead_image_facts.dispatch_image.low);
  if (!module) return;
  suspects->source_vtable = undead_symbol_address(module, "__OS_dispatch_source_vtable", NULL);
  suspects->operation_vtable = undead_symbol_address(module, "__OS_dispatch_operation_vtable", NULL);
  suspects->timer_type = undead_symbol_address(module, "_dispatch_source_type_timer", NULL);
  suspects->after_type = undead_symbol_address(module, "_dispatch_source_type_after", NULL);
}

// What of libdispatch waits for descriptors and signals, and channels.
static void find_waits_for_kernel(undead_bodies *bodies) {
  const undead_module *module = undead_module_of(undead_image_facts.dispatch_image.low);
  if (!module) return;
  bodies->source_of_reads = undead_symbol_address(module, "_dispatch_source_type_read", NULL);
  bodies->source_of_writes = undead_symbol_address(module, "_dispatch_source_type_write", NULL);
  bodies->source_of_signals = undead_symbol_address(module, "_dispatch_source_type_signal", NULL);
  bodies->io_class = undead_symbol_address(module, "__OS_dispatch_io_vtable", NULL);
}

uint32_t undead_queue_label_place(const undead_module *dispatch) {
  enum { LABEL = 1, LABEL_SIZE = 2 };   // behind the version
  size_t size = 0;
  uintptr_t offsets = undead_symbol_address(dispatch, "dispatch_queue_offsets", &size);
  if (!offsets || size < (LABEL_SIZE + 1) * sizeof(uint16_t)) return 0;
  const uint16_t *fields = (const uint16_t *)offsets;
  return fields[LABEL_SIZE] == sizeof(uintptr_t) ? fields[LABEL] : 0;
}

static void find_queues(undead_bodies *bodies) {
  const undead_module *module = undead_module_of(undead_image_facts.dispatch_image.low);
  if (!module) return;
  bodies->serial_queue = undead_symbol_address(module, "__OS_dispatch_queue_serial_vtable", NULL);
  bodies->concurrent_queue = undead_symbol_address(module, "__OS_dispatch_queue_concurrent_vtable", NULL);
  bodies->queue_label = undead_queue_label_place(module);
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
  find_sources(suspects);
  find_closures_of_c(bodies);
  find_waits_for_kernel(bodies);
  find_queues(bodies);
  suspects->tables = undead_map(MAX_TABLES * sizeof *suspects->tables);
  suspects->found = undead_map(MAX_FOUND * sizeof *suspects->found);
  suspects->links = undead_map(MAX_LINKS * sizeof *suspects->links);
  suspects->alone = undead_map(UNDEAD_MOST_ALONE * sizeof *suspects->alone);
  if (suspects->tables && suspects->found && suspects->links && suspects->alone) return true;
  undead_suspects_close(suspects);
  return false;
}

void undead_suspects_close(undead_suspects *suspects) {
  if (suspects->tables) undead_unmap(suspects->tables, MAX_TABLES * sizeof *suspects->tables);
  if (suspects->found) undead_unmap(suspects->found, MAX_FOUND * sizeof *suspects->found);
  if (suspects->links) undead_unmap(suspects->links, MAX_LINKS * sizeof *suspects->links);
  if (suspects->alone) undead_unmap(suspects->alone, UNDEAD_MOST_ALONE * sizeof *suspects->alone);
  undead_mark_close(&suspects->again);
  undead_worklist_close(&suspects->members);
  if (suspects->bodies) undead_address_set_close(&suspects->bodies->handlers);
  undead_address_set_close(&suspects->idle);
  *suspects = (undead_suspects){0};
}

static void tag_registration(void *context, uintptr_t closure, uint64_t key) {
  (void)key;
  const undead_suspects *suspects = context;
  undead_heap_set(suspects->bodies->heap, closure, UNDEAD_WORD_SPECIAL);
}

static bool may_name_weakly(const undead_layout *layout) {
  bool decided = layout->deciding.count || layout->buffer_count || layout->guard_count;
  return decided || layout->skip_count || (layout->word_count && memchr(layout->words, UNDEAD_EVIDENCE_NONE, layout->word_count));
}

uint32_t undead_suspects_note(undead_marker *marker, uintptr_t block, size_t size, const undead_body *body) {
  undead_suspects *suspects = marker->context;
  const undead_layout *layout = body->layout;
  bool special = false;
  if (layout && !suspects->names_weakly && (layout->kind == UNDEAD_KIND_CLASS || layout->kind == UNDEAD_KIND_CONTEXT)
      && may_name_weakly(layout)) __atomic_store_n(&suspects->names_weakly, true, __ATOMIC_RELAXED);
  uintptr_t entry = layout ? 0 : undead_entry_of_channel(suspects->bodies, block);
  if (entry) {
    undead_heap_set(suspects->bodies->heap, entry, UNDEAD_WORD_SPECIAL);
    __atomic_store_n(&suspects->seen, true, __ATOMIC_RELAXED);
  }
  if (!layout) {
    special = size >= UNDEAD_SOURCE_BYTES
      && (undead_is_source_memory(suspects, block) || undead_is_operation(suspects, block));
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

static bool is_swift(const undead_layout *layout) { return layout && layout->kind != UNDEAD_KIND_OTHER; }

static bool cut(const undead_marker *marker, uintptr_t from, uintptr_t offset, uintptr_t to) {
  const undead_suspects *suspects = marker->context;
  if (from) return undead_is_framework_edge(suspects, from, to);
  const undead_layout *target = undead_body_layout(suspects->bodies, word_at(to));
  bool of_dispatch = undead_is_dispatch_data(offset);
  if (is_swift(target)) return of_dispatch && target->kind == UNDEAD_KIND_TASK;
  return undead_is_active_source(suspects, to) && (of_dispatch || is_of_thread(suspects, offset));
}

static bool is_idle(const undead_marker *marker, const undead_reference *reference) {
  return undead_is_idle_word(marker->context, reference);
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
    undead_visit_body(heap, block, &body, false, own, &search);
  }
  bool ok = !search.list.no_memory;
  undead_worklist_close(&search.list);
  return ok;
}

bool undead_suspects_find(undead_suspects *suspects, const undead_roots *roots) {
  if (!undead_loop_items_tag(suspects)) return false;
  if (!suspects->seen) return true;
  if (suspects->options->only_dead_owners) {
    // In a replica each block was noted, also those that are looked at by a plan elsewhere.
    if (suspects->names_weakly) undead_dead_owners_find(suspects, MAX_FOUND);
    return true;
  }
  suspects->roots = roots;
  suspects->again = (undead_marker){.bodies = suspects->bodies, .heap = suspects->bodies->heap,
                                    .bit = UNDEAD_WORD_MARK_AGAIN, .within = UNDEAD_WORD_MARK,
                                    .weak = UNDEAD_WEAK_IS_LISTED, .cut = cut, .is_idle = is_idle,
                                    .context = suspects};
  if (!undead_suspect_handlers_find(suspects) || !undead_idle_words_find(suspects)) return false;
  if (!find_owned(suspects) || !undead_mark_roots(&suspects->again, roots)) return false;
  undead_suspect_owners owners;
  bool ok = undead_suspect_owners_open(&owners, suspects)
    && undead_suspect_graph_search(suspects, &owners, MAX_FOUND, MAX_LINKS);
  undead_suspect_owners_close(&owners);
  if (ok) undead_dead_owners_find(suspects, MAX_FOUND);
  return ok;
}
