// A stack of addresses that grows by doubling, in mapped memory.
#pragma once
#include "platform/memory/sort.h"
#include <stdbool.h>
#include <stdint.h>

#define UNDEAD_WORKLIST_SEGMENTS 32
#define UNDEAD_WORKLIST_FIRST (1ull << 16)

typedef struct {
  uintptr_t *segment[UNDEAD_WORKLIST_SEGMENTS];
  uint32_t index;      // of the segment in use
  uint64_t top;        // in it
  bool no_memory;      // something could not be pushed
} undead_worklist;

bool undead_worklist_grow(undead_worklist *list);
bool undead_worklist_shrink(undead_worklist *list);
void undead_worklist_close(undead_worklist *list);

static inline void undead_worklist_push(undead_worklist *list, uintptr_t value) {
  if ((!list->segment[0] || list->top == UNDEAD_WORKLIST_FIRST << list->index) && !undead_worklist_grow(list)) return;
  list->segment[list->index][list->top++] = value;
}

static inline bool undead_worklist_has(const undead_worklist *list) { return list->top != 0 || list->index != 0; }

static inline uint64_t undead_worklist_size(const undead_worklist *list) {
  return list->top + UNDEAD_WORKLIST_FIRST * ((1ull << list->index) - 1);
}

// 0 if the list is empty.
static inline uintptr_t undead_worklist_pop(undead_worklist *list) {
  if (list->top == 0 && !undead_worklist_shrink(list)) return 0;
  return list->segment[list->index][--list->top];
}

// Addresses in ascending order.
typedef struct {
  uintptr_t *addresses;
  uint32_t count, capacity;
} undead_address_set;

// Takes all that is in the list, and closes it. False without memory, or if something could not be pushed.
bool undead_worklist_take(undead_worklist *list, undead_address_set *set);
void undead_address_set_close(undead_address_set *set);

// The place of an address; `count` if it is not in the set.
static inline uint32_t undead_address_set_place(const undead_address_set *set, uintptr_t address) {
  return (uint32_t)undead_place_of_word(set->addresses, set->count, address);
}
static inline bool undead_address_set_has(const undead_address_set *set, uintptr_t address) {
  return undead_address_set_place(set, address) < set->count;
}
