#include "scan/graph/graph_tables.h"
#include "platform/memory/index_map.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include <string.h>

#define SLICED_BYTES 4096u   // of storage that slices may keep alive

// Of text and bytes: what lies in the block itself.
static bool contents_of_string(undead_contents *contents, uintptr_t block, size_t size, uint64_t salt) {
  contents->used = word_at(block + ABI_STRING_COUNT) & ABI_STRING_CAPACITY_MASK;
  contents->capacity = word_at(block + ABI_STRING_CAPACITY) & ABI_STRING_CAPACITY_MASK;
  if (contents->capacity > size - ABI_STRING_CODE_UNITS || contents->used > contents->capacity) return false;
  contents->bytes = size;
  contents->has_hash = true;
  contents->hash = undead_hash((const void *)(block + ABI_STRING_CODE_UNITS), contents->used, salt);
  return true;
}

bool undead_contents_of(undead_contents *contents, const undead_layout *layout, uintptr_t block, size_t size,
                        uint64_t salt) {
  *contents = (undead_contents){.bytes = size};
  if (layout->category == UNDEAD_CATEGORY_STRING_STORAGE)
    return size > ABI_STRING_CODE_UNITS && contents_of_string(contents, block, size, salt);
  if (layout->category == UNDEAD_CATEGORY_DATA_STORAGE) {
    if (size < ABI_DATA_CAPACITY + 8) return false;
    contents->used = word_at(block + ABI_DATA_LENGTH);
    contents->bytes = contents->capacity = word_at(block + ABI_DATA_CAPACITY);
    return contents->used <= contents->capacity;
  }
  if (layout->slice.high) {
    contents->used = contents->bytes = contents->capacity = *(const uint32_t *)(block + layout->capacity);
    return true;
  }
  switch (layout->storage) {
  case UNDEAD_STORAGE_ARRAY:
    contents->used = word_at(block + ABI_ARRAY_COUNT);
    contents->capacity = word_at(block + ABI_ARRAY_CAPACITY) >> 1;
    break;
  case UNDEAD_STORAGE_SET:
  case UNDEAD_STORAGE_DICTIONARY:
    contents->used = word_at(block + ABI_HASH_COUNT);
    contents->capacity = word_at(block + ABI_HASH_CAPACITY);
    break;
  case UNDEAD_STORAGE_RING:
    contents->used = word_at(block + layout->count);
    contents->capacity = word_at(block + layout->capacity);
    break;
  default: return false;
  }
  return contents->used <= contents->capacity && contents->capacity <= size * 8;
}

const undead_layout *undead_large_storage(undead_bodies *bodies, uintptr_t block) {
  size_t size = undead_heap_block_size(bodies->heap, block);
  const undead_layout *layout = undead_block_layout(bodies, block, size);
  // Others have their contents in themselves.
  bool elsewhere = layout && (layout->category == UNDEAD_CATEGORY_DATA_STORAGE || layout->slice.high);
  if (size < SLICED_BYTES && !elsewhere) return NULL;
  undead_contents contents;
  return layout && undead_contents_of(&contents, layout, block, size, 0) && contents.bytes >= SLICED_BYTES ? layout : NULL;
}

static uint64_t number_at(uintptr_t at, size_t size, uintptr_t high) {
  uint64_t number = 0;
  if (at + size <= high) memcpy(&number, (const void *)at, size);
  return number;
}

void undead_slice_words(uint64_t words[UNDEAD_SLICE_WORDS], const undead_layout *layout, uintptr_t at, uintptr_t low, uintptr_t high) {
  enum { REFERENCE = UNDEAD_SLICE_WORDS / 2 };
  for (int i = 0; i < (int)UNDEAD_SLICE_WORDS; i++) {
    uintptr_t word = at + (uintptr_t)((i - REFERENCE) * 8);
    bool taken = !layout->slice.high || i == REFERENCE;
    words[i] = taken && word >= low && word + 8 <= high ? word_at(word) : 0;
  }
  if (!layout->slice.high) return;
  words[REFERENCE + 1] = number_at(at + layout->slice.low, 3, high);
  words[REFERENCE + 2] = number_at(at + layout->slice.high, 4, high);
}
