#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/graph/contents.h"
#include "platform/memory/index_map.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"

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
#endif
