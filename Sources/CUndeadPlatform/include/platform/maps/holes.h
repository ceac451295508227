// Pages that cannot be read although the memory map says so: guards (MADV_GUARD_INSTALL), what lies behind the end of a
// file that was cut off. Only a fault shows. The memory map (platform/maps/maps.h) has them as parts that are not readable.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// After a fault at `address`, with the world running: notes the page, even if it can be read by now, and others that
// cannot. False if it is no readable page by the map, or noted before.
bool undead_hole_note(uintptr_t address);
// Forgets those that can be read again.
void undead_holes_refresh(void);
// The first noted part between `low` and `high`, false if there is none.
bool undead_hole_in(uintptr_t low, uintptr_t high, uintptr_t *hole_low, uintptr_t *hole_high);
