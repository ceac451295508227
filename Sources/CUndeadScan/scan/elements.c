#include "scan/elements.h"
#include "runtime/abi.h"

static uint64_t word_at(uintptr_t address) { return *(const uint64_t *)address; }

static void elements_of_array(undead_elements *elements, const undead_layout *layout, uintptr_t block, size_t size) {
  uint64_t count = word_at(block + ABI_ARRAY_COUNT);
  size_t room = (size - layout->first_element) / layout->strides[0];
  if (count > room) return;
  uintptr_t low = block + layout->first_element;
  elements->ranges[0] = (undead_element_range){low, low + count * layout->strides[0], layout->strides[0]};
  elements->range_count = 1;
}

static bool add_range(undead_elements *elements, uintptr_t low, uint64_t buckets, size_t stride, uintptr_t end) {
  if (low & 7 || low > end || buckets > (end - low) / stride) return false;
  elements->ranges[elements->range_count++] = (undead_element_range){low, low + buckets * stride, stride};
  return true;
}

static void elements_of_table(undead_elements *elements, const undead_layout *layout, uintptr_t block, size_t size) {
  bool dictionary = layout->storage == UNDEAD_STORAGE_DICTIONARY;
  uintptr_t bitmap = block + (dictionary ? ABI_DICTIONARY_HEADER : ABI_SET_HEADER), end = block + size;
  uint32_t scale = *(const uint8_t *)(block + ABI_HASH_SCALE);
  if (scale > ABI_HASH_SCALE_MOST) return;
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
  *elements = (undead_elements){0};
  if (layout->storage == UNDEAD_STORAGE_ARRAY && size >= layout->first_element)
    elements_of_array(elements, layout, block, size);
  else if (layout->storage > UNDEAD_STORAGE_ARRAY && size >= ABI_DICTIONARY_HEADER)
    elements_of_table(elements, layout, block, size);
}

bool undead_elements_skip(const undead_elements *elements, uintptr_t at) {
  if (!elements->bitmap) return at >= elements->ranges[0].high;
  for (uint32_t i = 0; i < elements->range_count; i++) {
    const undead_element_range *range = &elements->ranges[i];
    if (at < range->low || at >= range->high) continue;
    // A word of two small elements is used if one of them is.
    size_t first = (at - range->low) / range->stride, last = (at + 7 - range->low) / range->stride;
    for (size_t bucket = first; bucket <= last && range->low + bucket * range->stride < range->high; bucket++)
      if (elements->bitmap[bucket / 64] >> bucket % 64 & 1) return false;
    return true;
  }
  return false;
}
