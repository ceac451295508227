// Sorting in place without memory of its own, and searching: the stopped world allows no qsort, which allocates.
#pragma once
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// All are inlined, so that the size of an item is a constant.
#define UNDEAD_SORT static inline __attribute__((always_inline))
#define UNDEAD_SORT_MOST_BYTES 64

UNDEAD_SORT uintptr_t undead_sort_key(const char *items, size_t index, size_t size) {
  return *(const uintptr_t *)(items + index * size);
}

UNDEAD_SORT void undead_sort_swap(char *left, char *right, size_t size) {
  char swapped[UNDEAD_SORT_MOST_BYTES];
  memcpy(swapped, left, size);
  memcpy(left, right, size);
  memcpy(right, swapped, size);
}

UNDEAD_SORT void undead_sort_sift(char *items, size_t root, size_t count, size_t size) {
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    // A branch, although half of them are mispredicted: those that are not fetch the next items early.
    if (child + 1 < count && undead_sort_key(items, child + 1, size) > undead_sort_key(items, child, size)) child++;
    if (undead_sort_key(items, root, size) >= undead_sort_key(items, child, size)) return;
    undead_sort_swap(items + root * size, items + child * size, size);
  }
}

// Sorts `list`, items of `size` bytes that begin with an address, ascending by it (heap sort: equal ones in any order).
UNDEAD_SORT void undead_sort(void *list, size_t count, size_t size) {
  assert(size >= sizeof(uintptr_t) && size <= UNDEAD_SORT_MOST_BYTES);
  char *items = list;
  for (size_t root = count / 2; root-- > 0;) undead_sort_sift(items, root, count, size);
  for (size_t last = count; last-- > 1;) {
    undead_sort_swap(items, items + last * size, size);
    undead_sort_sift(items, 0, last, size);
  }
}

// The place of an item in a sorted list by the address that it begins with; `count` if it is not in it.
UNDEAD_SORT size_t undead_place_of(const void *items, size_t count, size_t size, uintptr_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (undead_sort_key(items, middle, size) < address) low = middle + 1;
    else high = middle;
  }
  return low < count && undead_sort_key(items, low, size) == address ? low : count;
}
UNDEAD_SORT size_t undead_place_of_word(const uintptr_t *words, size_t count, uintptr_t word) {
  return undead_place_of(words, count, sizeof *words, word);
}

// The first that ends behind `address`, of ranges that are sorted and apart: items of `size` bytes that begin with {low, high}.
// `count` if none does.
UNDEAD_SORT size_t undead_range_behind(const void *ranges, size_t count, size_t size, uintptr_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const uintptr_t *range = (const uintptr_t *)((const char *)ranges + middle * size);
    if (range[1] <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

void undead_sort_words(uintptr_t *words, uint32_t count);
