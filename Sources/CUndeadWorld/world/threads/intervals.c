#include "world/intervals.h"
#include "platform/memory/memory.h"
#include "platform/memory/sort.h"

bool undead_intervals_open(undead_intervals *intervals, uint32_t capacity) {
  *intervals = (undead_intervals){.capacity = capacity};
  intervals->list = undead_map(capacity * sizeof *intervals->list);
  return intervals->list != NULL;
}

void undead_intervals_close(undead_intervals *intervals) {
  if (intervals->list) undead_unmap(intervals->list, intervals->capacity * sizeof *intervals->list);
  *intervals = (undead_intervals){0};
}

void undead_intervals_add(undead_intervals *intervals, uintptr_t low, uintptr_t high) {
  if (low >= high) return;
  if (intervals->count == intervals->capacity) {
    intervals->overflow = true;
    return;
  }
  intervals->list[intervals->count++] = (undead_interval){low, high};
}

void undead_intervals_sort(undead_intervals *intervals) {
  undead_interval *list = intervals->list;
  undead_sort(list, intervals->count, sizeof *list);   // by the low end
  uint32_t kept = 0;
  for (uint32_t i = 0; i < intervals->count; i++) {
    if (kept && list[i].low <= list[kept - 1].high) {
      if (list[i].high > list[kept - 1].high) list[kept - 1].high = list[i].high;
    } else {
      list[kept++] = list[i];
    }
  }
  intervals->count = intervals->sorted = kept;
}

uintptr_t undead_intervals_skip(const undead_intervals *intervals, uintptr_t address, uintptr_t *next) {
  size_t at = undead_range_behind(intervals->list, intervals->sorted, sizeof *intervals->list, address);
  if (at < intervals->sorted && intervals->list[at].low <= address) return intervals->list[at].high;
  *next = at < intervals->sorted ? intervals->list[at].low : UINTPTR_MAX;
  return 0;
}
