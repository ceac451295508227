// Storage that a fiber may have left in the middle of a change. Its stack is memory like any other: of malloc, of a mapping, in a
// variable.
#pragma once
#include "scan/mark/mark.h"

// To be called when all roots are marked. Lists what elements behind the count of such storage name, and has the storage count as
// held (scan/bodies/held.h) from now on. False without memory.
bool undead_switched_doubt(undead_marker *marker, const undead_roots *roots);
