// Sorting in place without memory of its own: the stopped world allows no qsort, which allocates.
#pragma once
#include <stdint.h>

// Sorts `words` ascending (heap sort).
void undead_sort_words(uintptr_t *words, uint32_t count);
