#include "scan/address_index.h"
#include "platform/memory.h"

#define INDEX_BYTES (UNDEAD_LEAF_COUNT * sizeof(uint32_t *))
#define PAGE_TABLE_BYTES ((UNDEAD_LEAF_PAGES + 1) * sizeof(uint32_t))

static uintptr_t address_at(const undead_address_index *index, uint32_t entry) {
  return *(const uintptr_t *)(index->entries + (size_t)entry * index->stride);
}

bool undead_address_index_open(undead_address_index *index, const void *entries, size_t stride, uint32_t count) {
  *index = (undead_address_index){.entries = entries, .stride = stride, .count = count};
  index->first = undead_map(INDEX_BYTES);
  if (!index->first) return false;
  for (uint32_t i = 0, next; i < count; i = next) {
    uintptr_t leaf = address_at(index, i) >> UNDEAD_LEAF_SHIFT;
    uint32_t *pages = index->first[leaf] = undead_map(PAGE_TABLE_BYTES);
    if (!pages) {
      undead_address_index_close(index);
      return false;
    }
    next = i;
    for (uint32_t page = 0; page <= UNDEAD_LEAF_PAGES; page++) {
      uintptr_t start = (leaf << UNDEAD_LEAF_SHIFT) + ((uintptr_t)page << UNDEAD_PAGE_SHIFT);
      while (next < count && address_at(index, next) < start) next++;
      pages[page] = next;
    }
  }
  return true;
}

void undead_address_index_close(undead_address_index *index) {
  if (!index->first) return;
  for (uint32_t i = 0; i < index->count;) {
    uintptr_t leaf = address_at(index, i) >> UNDEAD_LEAF_SHIFT;
    uint32_t *pages = index->first[leaf];
    if (!pages) break;
    i = pages[UNDEAD_LEAF_PAGES];
    undead_unmap(pages, PAGE_TABLE_BYTES);
  }
  undead_unmap(index->first, INDEX_BYTES);
  index->first = NULL;
}

uint32_t undead_address_index_of(const undead_address_index *index, uintptr_t block) {
  const uint32_t *pages = index->first[block >> UNDEAD_LEAF_SHIFT];
  if (!pages) return UINT32_MAX;
  uint32_t page = (uint32_t)(block >> UNDEAD_PAGE_SHIFT) & (UNDEAD_LEAF_PAGES - 1);
  uint32_t low = pages[page], high = pages[page + 1];
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (address_at(index, middle) < block) low = middle + 1;
    else high = middle;
  }
  return low < pages[page + 1] && address_at(index, low) == block ? low : UINT32_MAX;
}
