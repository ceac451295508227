// Groups where blocks were allocated lately: none is missed and none is there twice, while others allocate or make them old.
#define _GNU_SOURCE
#include "platform/memory/memory.h"
#include "record/registry.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

undead_leaf *undead_leaves[UNDEAD_LEAF_COUNT];

enum { LEAVES = 3, GROUPS = 64, THREADS = 4, ROUNDS = 200000 };
#define LEAF_BYTES (1ull << UNDEAD_LEAF_SHIFT)
#define GROUP_BYTES (16ull << UNDEAD_TOUCH_SHIFT)

static uintptr_t address_of(uint32_t group, uint32_t granule) {
  return (group % LEAVES + 5) * LEAF_BYTES + group / LEAVES * GROUP_BYTES + granule * 16;
}

static uint8_t *touched(uintptr_t address) {
  return &undead_registry_leaf(address)->touched[address % LEAF_BYTES / GROUP_BYTES];
}

// What the hooks do.
static void record(uintptr_t address, uint32_t word) {
  if (__atomic_load_n(touched(address), __ATOMIC_RELAXED) != UNDEAD_TOUCHED_LATELY)
    undead_registry_touch(undead_registry_leaf(address), address);
  __atomic_store_n(undead_registry_slot(address), word, __ATOMIC_RELEASE);
}

static uint32_t visits[GROUPS], found;

static bool visit(void *first_id, uintptr_t block, uint32_t *word) {
  assert(*word >= *(uint32_t *)first_id && undead_registry_slot(block) == word);
  for (uint32_t group = 0; group < GROUPS; group++)
    if (block - address_of(group, 0) < GROUP_BYTES) visits[group]++;
  found++;
  return true;
}

static void look(uint32_t first_id) {
  memset(visits, 0, sizeof visits);
  found = 0;
  undead_registry_each_recent(first_id, visit, &first_id);
}

static void one_thread(void) {
  look(0);
  assert(found == 0);
  record(address_of(7, 3), 100);
  record(address_of(7, 511), 101);
  record(address_of(8, 0), 90);
  look(1);
  assert(found == 3 && visits[7] == 2 && visits[8] == 1);
  look(101);
  assert(found == 1);
  undead_registry_age();
  look(1);
  assert(found == 0 && *touched(address_of(7, 3)) == UNDEAD_TOUCHED_LONG_AGO);
  record(address_of(7, 4), 102);
  look(102);
  assert(found == 1);
  *undead_registry_slot(address_of(7, 4)) = 0;
  look(102);
  assert(found == 0);
}

static void *work(void *seed) {
  uint32_t state = (uint32_t)(uintptr_t)seed;
  for (int round = 0; round < ROUNDS; round++) {
    state = state * 1664525 + 1013904223;
    // A granule of its own, so that all that lasts is the group.
    record(address_of(state >> 8 & (GROUPS - 1), (uint32_t)(uintptr_t)seed), 1000);
  }
  return NULL;
}

static void many_threads(void) {
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
  for (int round = 0; round < ROUNDS / 20; round++) undead_registry_age();
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  look(1000);
  for (uint32_t group = 0; group < GROUPS; group++) {
    uint32_t blocks = 0;
    for (uint32_t i = 1; i <= THREADS; i++) blocks += *undead_registry_slot(address_of(group, i)) == 1000;
    if (*touched(address_of(group, 0)) == UNDEAD_TOUCHED_LATELY) assert(visits[group] == blocks);
    else assert(visits[group] == 0 || visits[group] == blocks);
  }
}

int main(void) {
  for (uint32_t i = 0; i < LEAVES; i++) {
    undead_leaves[i + 5] = undead_map(sizeof(undead_leaf));
    assert(undead_leaves[i + 5]);
  }
  one_thread();
  for (int i = 0; i < 30; i++) many_threads();
  puts("recent blocks: ok");
  return 0;
}
