// A list of address ranges that are not to be looked at.
#pragma once
#include "world/images.h"

typedef struct {
  undead_interval *list;   // the first `sorted` are ascending and disjoint
  uint32_t sorted, count, capacity;
  bool overflow;
} undead_intervals;

bool undead_intervals_open(undead_intervals *intervals, uint32_t capacity);
void undead_intervals_close(undead_intervals *intervals);
void undead_intervals_add(undead_intervals *intervals, uintptr_t low, uintptr_t high);
void undead_intervals_sort(undead_intervals *intervals);
// If `address` is in a sorted range, the end of that range; else 0 and in `*next` where the next one starts.
uintptr_t undead_intervals_skip(const undead_intervals *intervals, uintptr_t address, uintptr_t *next);
