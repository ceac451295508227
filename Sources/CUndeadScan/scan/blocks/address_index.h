// Finds the position of a block in a list that is sorted by address.
#pragma once
#include "scan/blocks/heap.h"

// Of so many granules which begin a listed block, and how many listed blocks lie before them: what tells the position lies in
// one line of the cache.
#define UNDEAD_INDEX_WORDS 7u
#define UNDEAD_INDEX_GRANULES (UNDEAD_INDEX_WORDS * 64u)
typedef struct {
  uint64_t before;
  uint64_t starts[UNDEAD_INDEX_WORDS];
} undead_index_line;

typedef struct {
  const char *entries;     // each starts with the address of a block
  size_t stride;
  uint32_t count;
  undead_index_line **lines;   // for each leaf
} undead_address_index;

// False without memory.
bool undead_address_index_open(undead_address_index *index, const void *entries, size_t stride, uint32_t count);
void undead_address_index_close(undead_address_index *index);
// UINT32_MAX if the block is not listed.
uint32_t undead_address_index_of(const undead_address_index *index, uintptr_t block);
