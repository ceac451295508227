// A hash map from two words to a 32-bit index, in mapped memory.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_NO_INDEX UINT32_MAX

typedef struct {
  uint64_t first, second;
  uint32_t index_plus_one;   // 0: free
  uint32_t unused;
} undead_index_entry;

typedef struct {
  undead_index_entry *entries;
  size_t capacity, count;    // the capacity is a power of two
} undead_index_map;

// The index of a key, UNDEAD_NO_INDEX if it has none.
uint32_t undead_index_find(const undead_index_map *map, uint64_t first, uint64_t second);
// Gives a key that has none an index; false if there is no memory.
bool undead_index_add(undead_index_map *map, uint64_t first, uint64_t second, uint32_t index);
void undead_index_free(undead_index_map *map);

// Mixes bytes into a hash that distinguishes texts and stacks.
uint64_t undead_hash(const void *bytes, size_t size, uint64_t seed);

#pragma GCC visibility pop
