// From what was not reached to the lists of a result: leaks, closed sets, suspects, and watched objects that are still there.
// First they are listed, then explained (paths, owners); both only read the view.
#include "platform/memory/memory.h"
#include "runtime/abi.h"
#include "scan/analysis.h"
#include "scan/paths/paths.h"

// What the functions below work on.
typedef struct {
  undead_analysis *analysis;
  undead_storage *storage;
  const undead_view *view;
  const undead_scan_options *options;
} findings;

// The block of a watched object that is still there, else 0.
static uintptr_t watched_block(const findings *self, const undead_watched_target *target) {
  uintptr_t block = target->object;
  if (!undead_heap_starts(&self->view->heap, block)) return 0;
  if (target->any_block) return block;
  size_t size = undead_block_size(block);
  if (size < ABI_OBJECT_HEADER) return 0;
  const uint64_t *words = (const uint64_t *)block;
  if (target->isa && words[0] != target->isa) return 0;
  if (target->side_table && words[ABI_OBJECT_REFCOUNT / sizeof *words] != target->side_table) return 0;
  bool object = undead_body_kind(&self->analysis->bodies, block, size) != UNDEAD_KIND_OTHER;
  return object && !undead_is_deiniting(&self->view->heap, block) ? block : 0;
}

static bool is_live(const findings *self, uintptr_t block) {
  return block && *undead_heap_word(&self->view->heap, block) & UNDEAD_WORD_MARK;
}

// Blocks whose retain paths are wanted: suspects, and what the caller asked for, from `*watched` on.
static uint32_t list_targets(const findings *self, uintptr_t *targets, uint32_t *watched) {
  uint32_t count = 0;
  bool wanted = !self->options->only_dead_owners;
  for (uint32_t i = 0; wanted && i < self->analysis->suspects.found_count; i++) targets[count++] = self->analysis->suspects.found[i].object;
  for (uint32_t i = 0; i < self->analysis->closed.count; i++)
    if (self->analysis->closed.blocks[i].named) targets[count++] = self->analysis->closed.blocks[i].block;
  *watched = count;
  for (uint32_t i = 0; i < self->options->watched_count; i++) {
    uintptr_t block = watched_block(self, &self->options->watched[i]);
    if (is_live(self, block)) targets[count++] = block;
  }
  return count;
}

static bool find_paths(const findings *self) {
  uint64_t most = 0ull + self->analysis->suspects.found_count + self->analysis->closed.count + self->options->watched_count;
  size_t bytes = (most + 1) * sizeof(uintptr_t);
  uintptr_t *targets = undead_map(bytes);
  if (!targets) return false;
  uint32_t watched, count = list_targets(self, targets, &watched);
  bool ok = !count
    || (undead_paths_open(&self->analysis->paths, self->storage, targets, count)
        && undead_paths_find(&self->analysis->paths, self->storage, &self->analysis->bodies, &self->view->roots, self->options, self->analysis->marker.blocks));
  ok = ok && (!count || undead_owners_count(&self->analysis->paths, self->storage, &self->analysis->bodies, &self->view->roots,
                                         targets, count));
  // Also those for whose path there was no room.
  for (uint32_t i = watched; ok && i < count; i++)
    undead_collect_node(self->storage, &self->analysis->bodies, targets[i], UNDEAD_STATE_LIVE);
  undead_unmap(targets, bytes);
  return ok;
}

static void list_outlived_nodes(const findings *self) {
  undead_worklist *outlived = &self->analysis->paths.outlived, kept = {0};
  for (uintptr_t block; (block = undead_worklist_pop(outlived)); undead_worklist_push(&kept, block))
    undead_collect_node(self->storage, &self->analysis->bodies, block, UNDEAD_STATE_SUSPECT);
  undead_worklist_close(outlived);
  *outlived = kept;
  for (uintptr_t block; (block = undead_worklist_pop(&self->analysis->paths.cycles));)
    undead_collect_node(self->storage, &self->analysis->bodies, block, UNDEAD_STATE_LIVE);
}

// The objects, what holds them, and the rest of their cycles; sets that only frames name.
static void list_suspect_nodes(const findings *self) {
  undead_suspects *suspects = &self->analysis->suspects;
  for (uint32_t i = 0; i < suspects->alone_count; i++) {
    undead_collect_node(self->storage, &self->analysis->bodies, suspects->alone[i].object, UNDEAD_STATE_SUSPECT);
    undead_collect_node(self->storage, &self->analysis->bodies, suspects->alone[i].mechanism, UNDEAD_STATE_LIVE);
  }
  for (uint32_t i = 0; i < suspects->found_count; i++) {
    undead_collect_node(self->storage, &self->analysis->bodies, suspects->found[i].object, UNDEAD_STATE_SUSPECT);
    undead_collect_node(self->storage, &self->analysis->bodies, suspects->found[i].mechanism, UNDEAD_STATE_LIVE);
  }
  for (uint32_t i = 0; i < self->analysis->closed.count; i++)
    undead_collect_node(self->storage, &self->analysis->bodies, self->analysis->closed.blocks[i].block, UNDEAD_STATE_SUSPECT);
  for (uintptr_t block; (block = undead_worklist_pop(&suspects->members));)
    undead_collect_node(self->storage, &self->analysis->bodies, block, UNDEAD_STATE_LIVE);
  list_outlived_nodes(self);
}

static void list_suspect(const findings *self, const undead_address_index *index, const undead_found_suspect *found) {
  undead_scan_result *result = &self->storage->result;
  uint32_t node = undead_address_index_of(index, found->object);
  uint32_t mechanism = undead_address_index_of(index, found->mechanism);
  if (node == UINT32_MAX || mechanism == UINT32_MAX || result->suspect_count == self->storage->suspect_limit) return;
  bool alone = found->kind & UNDEAD_SUSPECT_ALONE || self->options->only_dead_owners;
  uint32_t path = alone ? UINT32_MAX : undead_path_to(&self->analysis->paths, found->object);
  result->suspects[result->suspect_count++] = (undead_suspect){found->kind, node, mechanism, path};
}

static void list_suspects(const findings *self, const undead_address_index *index) {
  const undead_suspects *suspects = &self->analysis->suspects;
  for (uint32_t i = 0; i < suspects->found_count; i++) list_suspect(self, index, &suspects->found[i]);
  for (uint32_t i = 0; i < suspects->alone_count; i++) list_suspect(self, index, &suspects->alone[i]);
  self->storage->result.alone_left_out = suspects->alone_left_out;
}

static void list_closed(const findings *self, const undead_address_index *index) {
  undead_scan_result *result = &self->storage->result;
  for (uint32_t i = 0; i < self->analysis->closed.count; i++) {
    const undead_closed_block *closed = &self->analysis->closed.blocks[i];
    uint32_t node = undead_address_index_of(index, closed->block);
    if (node == UINT32_MAX || result->suspect_count == self->storage->suspect_limit) continue;
    uint32_t path = closed->named ? undead_path_to(&self->analysis->paths, closed->block) : UINT32_MAX;
    result->suspects[result->suspect_count++] = (undead_suspect){UNDEAD_SUSPECT_FRAME, node, UINT32_MAX, path};
  }
}

static void list_outlived(const findings *self, const undead_address_index *index) {
  undead_scan_result *result = &self->storage->result;
  for (uintptr_t block; (block = undead_worklist_pop(&self->analysis->paths.outlived));) {
    uint32_t node = undead_address_index_of(index, block);
    if (node == UINT32_MAX || result->suspect_count == self->storage->suspect_limit) continue;
    result->suspects[result->suspect_count++] = (undead_suspect){UNDEAD_SUSPECT_OUTLIVED, node, UINT32_MAX, UINT32_MAX};
  }
}

static void list_watched(const findings *self, const undead_address_index *index) {
  undead_scan_result *result = &self->storage->result;
  for (uint32_t i = 0; i < self->options->watched_count; i++) {
    uintptr_t block = watched_block(self, &self->options->watched[i]);
    result->watched[result->watched_count++] = (undead_watched){
      .node = block ? undead_address_index_of(index, block) : UINT32_MAX,
      .path = is_live(self, block) ? undead_path_to(&self->analysis->paths, block) : UINT32_MAX,
    };
  }
}

static void list_items(const findings *self, const undead_address_index *index) {
  undead_scan_result *result = &self->storage->result;
  for (uint32_t i = 0; i < self->options->loop_item_count; i++) {
    uintptr_t block = self->options->loop_items[i].object;
    bool there = undead_heap_starts(&self->view->heap, block);
    result->item_nodes[result->item_count++] = there ? undead_address_index_of(index, block) : UINT32_MAX;
  }
}

bool undead_findings_list(undead_analysis *analysis, undead_storage *storage, const undead_view *view,
                          const undead_scan_options *options) {
  const findings context = {analysis, storage, view, options}, *self = &context;
  undead_scan_result *result = &self->storage->result;
  undead_address_index index;
  bool asked = analysis->suspects.found_count || analysis->suspects.alone_count || analysis->closed.count || options->watched_count || options->loop_item_count;
  if (!asked) return true;
  if (!undead_address_index_open(&index, result->nodes, sizeof *result->nodes, result->node_count)) return false;
  list_suspects(self, &index);
  list_closed(self, &index);
  list_outlived(self, &index);
  list_watched(self, &index);
  list_items(self, &index);
  undead_address_index_close(&index);
  return true;
}

bool undead_findings_explain(undead_analysis *analysis, undead_storage *storage, const undead_view *view,
                             const undead_scan_options *options) {
  const findings self = {analysis, storage, view, options};
  if (!find_paths(&self)) return false;
  list_suspect_nodes(&self);
  return true;
}
