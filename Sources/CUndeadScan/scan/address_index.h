// Finds the position of a block in a list that is sorted by address.
#pragma once
#include "scan/heap.h"

typedef struct {
  const char *entries;     // each starts with the address of a block
  size_t stride;
  uint32_t count;
  uint32_t **first;        // for each leaf, for each page: the first entry that starts in it or later
} undead_address_index;

// False without memory.
bool undead_address_index_open(undead_address_index *index, const void *entries, size_t stride, uint32_t count);
void undead_address_index_close(undead_address_index *index);
// UINT32_MAX if the block is not listed.
uint32_t undead_address_index_of(const undead_address_index *index, uintptr_t block);
