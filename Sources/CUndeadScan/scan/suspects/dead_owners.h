// Tasks and timers whose closures know weakly nothing but objects that are gone: what they do in a loop, they do for nobody.
#pragma once
#include "scan/suspects/suspects.h"

// After the first pass: adds them to what was found. Whether a task is in a loop is known when the world runs again.
void undead_dead_owners_find(undead_suspects *suspects, uint32_t max_found);
