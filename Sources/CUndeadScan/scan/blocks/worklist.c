#include "scan/blocks/worklist.h"
#include "platform/memory/memory.h"
#include <stddef.h>

static size_t segment_bytes(uint32_t index) { return (UNDEAD_WORKLIST_FIRST << index) * sizeof(uintptr_t); }

bool undead_worklist_grow(undead_worklist *list) {
  uint32_t index = list->segment[0] ? list->index + 1 : 0;
  if (index < UNDEAD_WORKLIST_SEGMENTS && !list->segment[index])
    list->segment[index] = undead_map(segment_bytes(index));
  if (index == UNDEAD_WORKLIST_SEGMENTS || !list->segment[index]) {
    list->no_memory = true;
    return false;
  }
  list->index = index;
  list->top = 0;
  return true;
}

bool undead_worklist_shrink(undead_worklist *list) {
  if (list->index == 0) return false;
  list->index--;
  list->top = UNDEAD_WORKLIST_FIRST << list->index;
  return true;
}

void undead_worklist_close(undead_worklist *list) {
  for (uint32_t i = 0; i < UNDEAD_WORKLIST_SEGMENTS; i++)
    if (list->segment[i]) undead_unmap(list->segment[i], segment_bytes(i));
  *list = (undead_worklist){0};
}

bool undead_worklist_take(undead_worklist *list, undead_address_set *set) {
  uint64_t count = undead_worklist_size(list);
  bool ok = !list->no_memory && count <= UINT32_MAX;
  *set = (undead_address_set){0};
  if (ok && count) {
    set->addresses = undead_map(count * sizeof *set->addresses);
    if ((ok = set->addresses != NULL)) set->capacity = (uint32_t)count;
    while (set->count < set->capacity) set->addresses[set->count++] = undead_worklist_pop(list);
    undead_sort_words(set->addresses, set->count);
  }
  undead_worklist_close(list);
  return ok;
}

void undead_address_set_close(undead_address_set *set) {
  if (set->addresses) undead_unmap(set->addresses, set->capacity * sizeof *set->addresses);
  *set = (undead_address_set){0};
}
