// Global variables of the program, and their parts, that are numbers. Their words are weak evidence, as those of fields are.
#pragma once
#include "scan/roots/roots.h"
#include "world/intervals.h"

// With the world running, on the scan's thread: looked for again only if other libraries are loaded. Empty without memory, or for
// a stripped program. Stays valid until the next call.
void undead_numbers_refresh(undead_intervals *numbers);
// Makes roots of their own of these variables.
void undead_numbers_mark(undead_roots *roots, const undead_intervals *numbers);
