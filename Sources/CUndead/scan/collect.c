#include "scan/collect.h"
#include "platform/memory.h"
#include "runtime/abi.h"
#include <assert.h>

typedef struct {
  undead_storage *storage;
  undead_bodies *bodies;
  bool swift_only;       // the list would not hold everything
  bool full;
} sweep;

static uint64_t word_at(uintptr_t address) { return *(const uint64_t *)address; }

static undead_kind kind_of(undead_bodies *bodies, uintptr_t block, size_t size) {
  if (size < ABI_OBJECT_HEADER) return UNDEAD_KIND_OTHER;
  if (undead_side_table_owner(bodies->heap, block, size)) return UNDEAD_KIND_SIDE_TABLE;
  undead_kind kind = undead_classify(word_at(block), size);
  return kind && undead_has_refcount(bodies->heap, block) ? kind : UNDEAD_KIND_OTHER;
}

uint32_t undead_collect_node(undead_storage *storage, undead_bodies *bodies, uintptr_t block, undead_state state) {
  undead_scan_result *result = &storage->result;
  if (result->node_count == storage->node_limit) {
    result->dropped_nodes++;
    return UINT32_MAX;
  }
  size_t size = undead_block_size(block);
  result->nodes[result->node_count] = (undead_node){
    .address = block,
    .size = size,
    .isa = size >= 8 ? word_at(block) : 0,
    .refcount = size >= 16 ? word_at(block + ABI_OBJECT_REFCOUNT) : 0,
    .backtrace = *undead_heap_word(bodies->heap, block) & UNDEAD_WORD_BACKTRACE,
    .kind = (uint8_t)kind_of(bodies, block, size),
    .state = (uint8_t)state,
  };
  return result->node_count++;
}

static bool visit(void *context, uintptr_t block, uint32_t *word) {
  sweep *self = context;
  undead_scan_result *result = &self->storage->result;
  if (*word & UNDEAD_WORD_MARK) return true;
  size_t size = undead_block_size(block);
  undead_kind kind = kind_of(self->bodies, block, size);
  if (!self->swift_only) {
    result->live_blocks++;
    result->live_bytes += size;
  }
  if (kind == UNDEAD_KIND_SIDE_TABLE) return true;
  // Its deinit has run: unowned references keep the memory, which is no leak.
  if (kind != UNDEAD_KIND_OTHER && undead_is_deiniting(self->bodies->heap, block)) return true;
  bool swift = kind != UNDEAD_KIND_OTHER;
  if (!swift && self->swift_only) {
    result->unreachable_c_blocks++;
    result->unreachable_c_bytes += size;
    return true;
  }
  if (result->node_count == self->storage->node_limit && !self->swift_only) {
    self->full = true;
    return true;
  }
  undead_collect_node(self->storage, self->bodies, block, swift ? UNDEAD_STATE_LEAKED : UNDEAD_STATE_UNDECIDED);
  return true;
}

void undead_collect_unreached(undead_storage *storage, undead_bodies *bodies) {
  sweep self = {.storage = storage, .bodies = bodies};
  undead_heap_each(bodies->heap, visit, &self);
  if (!self.full) return;
  self.swift_only = true;
  storage->result.node_count = 0;
  storage->result.dropped_nodes = 0;
  undead_heap_each(bodies->heap, visit, &self);
}

static void sift_down(undead_node *nodes, uint32_t root, uint32_t count) {
  for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && nodes[child + 1].address > nodes[child].address) child++;
    if (nodes[root].address >= nodes[child].address) return;
    undead_node swapped = nodes[root];
    nodes[root] = nodes[child];
    nodes[child] = swapped;
  }
}

static void sort(undead_node *nodes, uint32_t count) {
  for (uint32_t root = count / 2; root-- > 0;) sift_down(nodes, root, count);
  for (uint32_t last = count; last-- > 1;) {
    undead_node largest = nodes[0];
    nodes[0] = nodes[last];
    nodes[last] = largest;
    sift_down(nodes, 0, last);
  }
}

bool undead_collect_sort(undead_storage *storage, uint32_t sorted) {
  undead_scan_result *result = &storage->result;
  uint32_t added = result->node_count - sorted;
  if (!added) return true;
  undead_node *tail = undead_map(added * sizeof *tail);
  if (!tail) return false;
  uint32_t count = 0;
  sort(result->nodes + sorted, added);
  for (uint32_t i = 0; i < added; i++) {
    const undead_node *node = &result->nodes[sorted + i];
    if (!count || tail[count - 1].address != node->address) tail[count++] = *node;
    else if (node->state == UNDEAD_STATE_SUSPECT) tail[count - 1].state = UNDEAD_STATE_SUSPECT;
  }
  result->node_count = sorted + count;
  for (uint32_t at = sorted + count, left = sorted, right = count; right > 0;) {
    if (left > 0 && result->nodes[left - 1].address > tail[right - 1].address) result->nodes[--at] = result->nodes[--left];
    else result->nodes[--at] = tail[--right];
  }
  undead_unmap(tail, added * sizeof *tail);
  return true;
}

#define INDEX_BYTES (UNDEAD_LEAF_COUNT * sizeof(uint32_t *))
#define PAGE_TABLE_BYTES ((UNDEAD_LEAF_PAGES + 1) * sizeof(uint32_t))

bool undead_node_index_open(undead_node_index *index, const undead_scan_result *result) {
  *index = (undead_node_index){.result = result, .first = undead_map(INDEX_BYTES)};
  if (!index->first) return false;
  for (uint32_t i = 0, next; i < result->node_count; i = next) {
    uintptr_t leaf = result->nodes[i].address >> UNDEAD_LEAF_SHIFT;
    uint32_t *pages = index->first[leaf] = undead_map(PAGE_TABLE_BYTES);
    if (!pages) {
      undead_node_index_close(index);
      return false;
    }
    next = i;
    for (uint32_t page = 0; page <= UNDEAD_LEAF_PAGES; page++) {
      uintptr_t start = (leaf << UNDEAD_LEAF_SHIFT) + ((uintptr_t)page << UNDEAD_PAGE_SHIFT);
      while (next < result->node_count && result->nodes[next].address < start) next++;
      pages[page] = next;
    }
  }
  return true;
}

void undead_node_index_close(undead_node_index *index) {
  for (uint32_t i = 0; index->first && i < index->result->node_count; i++) {
    uintptr_t leaf = index->result->nodes[i].address >> UNDEAD_LEAF_SHIFT;
    if (!index->first[leaf]) continue;
    undead_unmap(index->first[leaf], PAGE_TABLE_BYTES);
    index->first[leaf] = NULL;
  }
  if (index->first) undead_unmap(index->first, INDEX_BYTES);
  index->first = NULL;
}

uint32_t undead_node_index_of(const undead_node_index *index, uintptr_t block) {
  const uint32_t *pages = index->first[block >> UNDEAD_LEAF_SHIFT];
  if (!pages) return UINT32_MAX;
  uint32_t page = (uint32_t)(block >> UNDEAD_PAGE_SHIFT) & (UNDEAD_LEAF_PAGES - 1);
  uint32_t low = pages[page], high = pages[page + 1];
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (index->result->nodes[middle].address < block) low = middle + 1;
    else high = middle;
  }
  return low < pages[page + 1] && index->result->nodes[low].address == block ? low : UINT32_MAX;
}
