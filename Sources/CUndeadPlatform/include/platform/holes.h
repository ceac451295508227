// Pages that cannot be read although the memory map says so: guards (MADV_GUARD_INSTALL), what lies behind the end of a
// file that was cut off. Only a fault tells. The memory map (platform/maps.h) has them as parts that are not readable.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// After a fault at `address`: notes the page, and others of the kind in its mapping. False if it is no such page, or
// noted.
bool undead_hole_note(uintptr_t address);
// Forgets those that can be read again.
void undead_holes_refresh(void);
// The first noted part between `low` and `high`, false if there is none.
bool undead_hole_in(uintptr_t low, uintptr_t high, uintptr_t *hole_low, uintptr_t *hole_high);
