// A stack of addresses that grows by doubling, in mapped memory.
#pragma once
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
