#include "scan/bodies/elements.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include <assert.h>

enum { MOST_SCALE = 40 };   // more buckets than there is memory for

static void add_elements(undead_elements *elements, uint64_t from, uint64_t to, size_t stride) {
  elements->ranges[elements->range_count++] =
    (undead_element_range){elements->tail + from * stride, elements->tail + to * stride, stride};
}

// Behind the count is what was never stored, or moved away: code that stores there before it counts, or counts before it
// destroys, does so in a frame that refers to the storage (scan/bodies/held.h). There the counts of what is named decide.
static void elements_of_array(undead_elements *elements, const undead_layout *layout, uintptr_t block, size_t size) {
  uint64_t count = word_at(block + ABI_ARRAY_COUNT);
  size_t room = (size - layout->first_element) / layout->strides[0];
  if (count > room) return;
  elements->tail = block + layout->first_element;
  add_elements(elements, 0, count, layout->strides[0]);
}

// The same, of the slots from `start` on (Deque+UnsafeHandle.swift: slots are left before `count` and `startSlot` change).
static void elements_of_ring(undead_elements *elements, const undead_layout *layout, uintptr_t block, size_t size) {
  uint64_t capacity = word_at(block + layout->capacity), count = word_at(block + layout->count);
  uint64_t start = word_at(block + layout->start), room = (size - layout->first_element) / layout->strides[0];
  if (capacity > room || count > capacity || start > capacity) return;
  elements->tail = block + layout->first_element;
  uint64_t behind = start + count > capacity ? start + count - capacity : 0;
  if (behind) add_elements(elements, 0, behind, layout->strides[0]);
  add_elements(elements, start, start + count - behind, layout->strides[0]);
}

static bool add_range(undead_elements *elements, uintptr_t low, uint64_t buckets, size_t stride, uintptr_t end) {
  if (low & 7 || low > end || buckets > (end - low) / stride) return false;
  elements->ranges[elements->range_count++] = (undead_element_range){low, low + buckets * stride, stride};
  return true;
}

// A bit is set before its element is stored, and cleared when it is gone (NativeDictionary.swift, NativeSet.swift: _insert,
// _delete); but for a few instructions, for which the thread must be running (scan/bodies/held.h).
static void elements_of_table(undead_elements *elements, const undead_layout *layout, uintptr_t block, size_t size) {
  bool dictionary = layout->storage == UNDEAD_STORAGE_DICTIONARY;
  uintptr_t bitmap = block + (dictionary ? ABI_DICTIONARY_HEADER : ABI_SET_HEADER), end = block + size;
  uint32_t scale = *(const uint8_t *)(block + ABI_HASH_SCALE);
  if (scale > MOST_SCALE) return;
  uint64_t buckets = 1ull << scale;
  uintptr_t first = word_at(block + (dictionary ? ABI_DICTIONARY_KEYS : ABI_SET_ELEMENTS));
  if (first < bitmap + (buckets + 63) / 64 * 8) return;
  uintptr_t values = dictionary ? word_at(block + ABI_DICTIONARY_VALUES) : 0;
  bool ok = add_range(elements, first, buckets, layout->strides[0], end);
  if (ok && dictionary) ok = add_range(elements, values, buckets, layout->strides[1], end);
  if (!ok) elements->range_count = 0;
  elements->bitmap = (const uint64_t *)bitmap;
}

void undead_elements_of(undead_elements *elements, const undead_layout *layout, uintptr_t block, size_t size) {
  *elements = (undead_elements){.words = {layout->element_words[0], layout->element_words[1]}};
  assert(layout->strides[0]);
  bool room = size >= layout->first_element;
  switch (layout->storage) {
  case UNDEAD_STORAGE_ARRAY:
    if (room) elements_of_array(elements, layout, block, size);
    return;
  case UNDEAD_STORAGE_RING:
    if (room) elements_of_ring(elements, layout, block, size);
    return;
  case UNDEAD_STORAGE_TAIL:
    if (room) {
      elements->tail = block + layout->first_element;
      add_elements(elements, 0, (size - layout->first_element) / layout->strides[0], layout->strides[0]);
    }
    return;
  default:
    if (size >= ABI_DICTIONARY_HEADER) elements_of_table(elements, layout, block, size);
  }
}

void undead_elements_of_changing(undead_elements *elements, const undead_layout *layout, uintptr_t block, size_t size) {
  *elements = (undead_elements){0};
  if (!layout->numbers[0] && !layout->numbers[1]) return;
  if (layout->storage == UNDEAD_STORAGE_ARRAY || layout->storage == UNDEAD_STORAGE_RING) {
    if (size < layout->first_element) return;
    elements->tail = block + layout->first_element;
    add_elements(elements, 0, (size - layout->first_element) / layout->strides[0], layout->strides[0]);
  } else if (size >= ABI_DICTIONARY_HEADER) {
    elements_of_table(elements, layout, block, size);
    elements->bitmap = NULL;
  }
  for (uint32_t i = 0; i < 2; i++) elements->words[i] = layout->numbers[i] ? layout->element_words[i] : NULL;
}

uintptr_t undead_elements_loose_from(const undead_layout *layout, uintptr_t block, size_t size) {
  uintptr_t end = block + size, first = block + layout->first_element;
  if (size < layout->first_element) return end;
  if (layout->storage == UNDEAD_STORAGE_RING) return first;
  if (layout->storage != UNDEAD_STORAGE_ARRAY) return end;
  uint64_t count = word_at(block + ABI_ARRAY_COUNT);
  return count <= (end - first) / layout->strides[0] ? first + count * layout->strides[0] : end;
}

const uint8_t *undead_elements_words(const undead_elements *elements, uintptr_t at, size_t *index, uint32_t *which) {
  for (uint32_t i = 0; i < elements->range_count; i++) {
    const undead_element_range *range = &elements->ranges[i];
    if (at < range->low || at >= range->high) continue;
    *index = range->stride % 8 ? 0 : (at - range->low) % range->stride / 8;
    *which = elements->words[i] == elements->words[0] ? 0 : i;   // a ring has two parts of one kind
    return elements->words[i];
  }
  return NULL;
}

bool undead_elements_skip(const undead_elements *elements, uintptr_t at) {
  if (!elements->bitmap && at < elements->tail) return false;
  for (uint32_t i = 0; i < elements->range_count; i++) {
    const undead_element_range *range = &elements->ranges[i];
    if (at + 8 <= range->low || at >= range->high) continue;
    if (!elements->bitmap) return false;
    // A word of two small elements is used if one of them is.
    size_t first = (at - range->low) / range->stride, last = (at + 7 - range->low) / range->stride;
    for (size_t bucket = first; bucket <= last && range->low + bucket * range->stride < range->high; bucket++)
      if (elements->bitmap[bucket / 64] >> bucket % 64 & 1) return false;
    return true;
  }
  return !elements->bitmap;
}
