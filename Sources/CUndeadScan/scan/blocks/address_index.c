#include "scan/blocks/address_index.h"
#include "platform/memory/memory.h"

#define INDEX_BYTES (UNDEAD_LEAF_COUNT * sizeof(undead_index_line *))
#define LINES (UNDEAD_LEAF_GRANULES / UNDEAD_INDEX_GRANULES + 1)
#define LEAF_LINES_BYTES (LINES * sizeof(undead_index_line))

typedef struct {
  undead_index_line *line;
  uint32_t word, bit;
} place;

static uintptr_t address_at(const undead_address_index *index, uint32_t entry) {
  return *(const uintptr_t *)(index->entries + (size_t)entry * index->stride);
}

static place place_in_index(undead_index_line *lines, uintptr_t block) {
  uint32_t granule = block >> 4 & (UNDEAD_LEAF_GRANULES - 1), in_line = granule % UNDEAD_INDEX_GRANULES;
  return (place){&lines[granule / UNDEAD_INDEX_GRANULES], in_line / 64, in_line % 64};
}

bool undead_address_index_open(undead_address_index *index, const void *entries, size_t stride, uint32_t count) {
  *index = (undead_address_index){.entries = entries, .stride = stride, .count = count};
  index->lines = undead_map(INDEX_BYTES);
  if (!index->lines) return false;
  const undead_index_line *last = NULL;
  for (uint32_t i = 0; i < count; i++) {
    uintptr_t block = address_at(index, i);
    undead_index_line **lines = &index->lines[block >> UNDEAD_LEAF_SHIFT];
    if (!*lines && !(*lines = undead_map(LEAF_LINES_BYTES))) {
      undead_address_index_close(index);
      return false;
    }
    place at = place_in_index(*lines, block);
    if (at.line != last) at.line->before = i;
    last = at.line;
    at.line->starts[at.word] |= 1ull << at.bit;
  }
  return true;
}

void undead_address_index_close(undead_address_index *index) {
  if (!index->lines) return;
  for (uint32_t i = 0; i < index->count; i++) {
    undead_index_line **lines = &index->lines[address_at(index, i) >> UNDEAD_LEAF_SHIFT];
    if (*lines) undead_unmap(*lines, LEAF_LINES_BYTES);
    *lines = NULL;
  }
  undead_unmap(index->lines, INDEX_BYTES);
  index->lines = NULL;
}

uint32_t undead_address_index_of(const undead_address_index *index, uintptr_t block) {
  undead_index_line *lines = index->lines[block >> UNDEAD_LEAF_SHIFT];
  if (!lines) return UINT32_MAX;
  place at = place_in_index(lines, block);
  if (block % 16 || !(at.line->starts[at.word] >> at.bit & 1)) return UINT32_MAX;
  uint64_t position = at.line->before;
  for (uint32_t i = 0; i < at.word; i++) position += (uint64_t)__builtin_popcountll(at.line->starts[i]);
  position += (uint64_t)__builtin_popcountll(at.line->starts[at.word] & ((1ull << at.bit) - 1));
  while (address_at(index, (uint32_t)position) < block) position++;   // behind a block that is listed twice
  return (uint32_t)position;
}
