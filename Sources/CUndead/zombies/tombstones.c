#include "zombies/tombstones.h"
#include "platform/memory.h"

enum { TOMBSTONES = 16384 };

// An entry that is being written has an odd count; a reader that sees it change has read nothing.
typedef struct {
  uint32_t changes;
  undead_dead dead;
} tombstone;

static tombstone *table;

static tombstone *place_of(uintptr_t address) {
  return &table[(address >> 4) * 0x9E3779B97F4A7C15ull >> 50];   // 2^14 places
}

void undead_tombstones_add(const undead_dead *dead) {
  if (!table && !(table = undead_map(TOMBSTONES * sizeof *table))) return;
  tombstone *place = place_of(dead->object);
  __atomic_store_n(&place->changes, place->changes + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  place->dead = *dead;
  __atomic_store_n(&place->changes, place->changes + 1, __ATOMIC_RELEASE);
}

bool undead_tombstones_find(uintptr_t address, undead_dead *dead) {
  if (!table || !address) return false;
  const tombstone *place = place_of(address);
  uint32_t before = __atomic_load_n(&place->changes, __ATOMIC_ACQUIRE);
  *dead = place->dead;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  uint32_t after = __atomic_load_n(&place->changes, __ATOMIC_RELAXED);
  return before == after && !(before & 1) && dead->object == address;
}
