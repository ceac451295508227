// The known pages that cannot be read: holes.c finds them, and maps.c cuts them out of the mappings.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  uintptr_t low, high;
} undead_hole;
extern undead_hole *undead_holes;   // ascending
extern uint32_t undead_hole_count;

// False without room, or if it overlaps another one.
bool undead_hole_add(uintptr_t low, uintptr_t high);

#pragma GCC visibility pop
