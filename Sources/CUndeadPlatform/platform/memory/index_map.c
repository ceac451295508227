#include "platform/memory/index_map.h"
#include "platform/memory/memory.h"
#include "platform/memory/spread.h"
#include <string.h>

#define FIRST_ENTRIES 256u   // they lie in the nearest cache

static uint64_t mix(uint64_t word) {
  // The finaliser of MurmurHash3.
  word ^= word >> 33;
  word *= 0xff51afd7ed558ccdu;
  word ^= word >> 33;
  word *= 0xc4ceb9fe1a85ec53u;
  return word ^ (word >> 33);
}

uint64_t undead_hash(const void *bytes, size_t size, uint64_t seed) {
  const uint8_t *from = bytes;
  uint64_t hash = mix(seed + size);
  for (; size >= 8; from += 8, size -= 8) {
    uint64_t word;
    memcpy(&word, from, 8);
    hash = mix(hash ^ word) + 0x9e3779b97f4a7c15u;
  }
  uint64_t tail = 0;
  memcpy(&tail, from, size);
  return mix(hash ^ tail);
}

// Keys may be numbers that count up: the upper bits of the product depend on all of theirs.
static undead_index_entry *slot_of(const undead_index_map *map, uint64_t first, uint64_t second) {
  size_t at = undead_spread(first ^ undead_spread(second)) >> 32 & (map->capacity - 1);
  for (;; at = (at + 1) & (map->capacity - 1)) {
    undead_index_entry *entry = &map->entries[at];
    if (entry->index_plus_one == 0 || (entry->first == first && entry->second == second)) return entry;
  }
}

uint32_t undead_index_find(const undead_index_map *map, uint64_t first, uint64_t second) {
  return map->capacity ? slot_of(map, first, second)->index_plus_one - 1 : UNDEAD_NO_INDEX;
}

static bool grow(undead_index_map *map) {
  undead_index_map larger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_ENTRIES, .count = map->count};
  larger.entries = undead_map(larger.capacity * sizeof(undead_index_entry));
  if (!larger.entries) return false;
  for (size_t i = 0; i < map->capacity; i++) {
    const undead_index_entry *entry = &map->entries[i];
    if (entry->index_plus_one) *slot_of(&larger, entry->first, entry->second) = *entry;
  }
  undead_index_free(map);
  *map = larger;
  return true;
}

bool undead_index_add(undead_index_map *map, uint64_t first, uint64_t second, uint32_t index) {
  if (map->count * 3 >= map->capacity * 2 && !grow(map)) return false;
  *slot_of(map, first, second) =
      (undead_index_entry){.first = first, .second = second, .index_plus_one = index + 1};
  map->count++;
  return true;
}

void undead_index_free(undead_index_map *map) {
  if (map->entries) undead_unmap(map->entries, map->capacity * sizeof(undead_index_entry));
  *map = (undead_index_map){0};
}
