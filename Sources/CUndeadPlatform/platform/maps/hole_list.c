#include "platform/maps/maps_internal.h"
#include "platform/maps/holes.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/sort.h"

#define MOST_HOLES 65536u

undead_hole *undead_holes;
uint32_t undead_hole_count;

static uint32_t first_behind(uintptr_t address) {
  return (uint32_t)undead_range_behind(undead_holes, undead_hole_count, sizeof *undead_holes, address);
}

bool undead_hole_in(uintptr_t low, uintptr_t high, uintptr_t *hole_low, uintptr_t *hole_high) {
  uint32_t at = first_behind(low);
  if (at == undead_hole_count || undead_holes[at].low >= high) return false;
  *hole_low = undead_holes[at].low > low ? undead_holes[at].low : low;
  *hole_high = undead_holes[at].high < high ? undead_holes[at].high : high;
  return true;
}

bool undead_hole_add(uintptr_t low, uintptr_t high) {
  if (!undead_holes && !(undead_holes = undead_map(MOST_HOLES * sizeof *undead_holes))) return false;
  uint32_t at = first_behind(low);
  if (undead_hole_count == MOST_HOLES || (at < undead_hole_count && undead_holes[at].low < high)) return false;
  for (uint32_t i = undead_hole_count++; i > at; i--) undead_holes[i] = undead_holes[i - 1];
  undead_holes[at] = (undead_hole){low, high};
  return true;
}
