// How many references there are to reported objects, and whose they are.
#pragma once
#include "scan/paths/paths.h"

// When the paths are known: fills in `strong`, `counted` and `shared` of those that start at a thread's word. Lists the `told`
// blocks with their counts, and some of those who hold them. Uses the scan bits but the mark. False without memory.
bool undead_owners_count(const undead_pathfinder *finder, undead_storage *storage, undead_bodies *bodies,
                         const undead_roots *roots, const uintptr_t *told, uint32_t told_count);
