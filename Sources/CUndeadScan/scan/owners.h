// How many of the references to an object belong to the thread at whose word its retain path starts.
#pragma once
#include "scan/paths.h"

// When the paths are known: fills in `strong`, `counted` and `shared`. Uses the scan bits but the mark. False without memory.
bool undead_owners_count(const undead_pathfinder *finder, undead_storage *storage, undead_bodies *bodies,
                         const undead_roots *roots);
