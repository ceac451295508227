// The used elements of a collection's storage. While a thread changes it, they may disagree with its count for a moment
// (scan/bodies/held.h).
#pragma once
#include "runtime/layout.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uintptr_t low, high;
  size_t stride;
} undead_element_range;

typedef struct {
  undead_element_range ranges[2];   // keys and values of all buckets; of arrays and rings the elements in use
  uint32_t range_count;             // 0: all words may be in use
  uintptr_t tail;                   // of arrays and rings: from here on nothing is in use but the ranges
  const uint64_t *bitmap;           // of used buckets, NULL for arrays and rings
  const uint8_t *words[2];          // undead_evidence of an element's words, for each range; NULL: raw
} undead_elements;

void undead_elements_of(undead_elements *elements, const undead_layout *layout, uintptr_t block, size_t size);
// The same while a thread may be changing the storage: all elements may be in use, and only numbers are surely what they are.
void undead_elements_of_changing(undead_elements *elements, const undead_layout *layout, uintptr_t block, size_t size);
// From where on elements of such storage may be out of use; the end of the block if nothing is known of that.
uintptr_t undead_elements_loose_from(const undead_layout *layout, uintptr_t block, size_t size);
// undead_evidence of the words of the element to which the word at `at` belongs, the index of that word, and which of the
// layout's two kinds of elements it is; NULL if nothing is known of it.
const uint8_t *undead_elements_words(const undead_elements *elements, uintptr_t at, size_t *index, uint32_t *which);
// True if the word at `at` belongs to no element, or to one that is not in use.
bool undead_elements_skip(const undead_elements *elements, uintptr_t at);
