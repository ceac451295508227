// The storage of collections that a thread may be changing: their counts and bitmaps may disagree with their elements.
#pragma once
#include "scan/body.h"
#include "scan/roots.h"

#define UNDEAD_MOST_HELD 8192u

// Lists the storage that stacks and registers refer to, and that threads may reach which were stopped while they ran.
// Sets `bodies->held`, to be given back with `undead_held_close`; without memory all storage counts as held.
void undead_held_open(undead_bodies *bodies, const undead_roots *roots, const undead_world *world);
void undead_held_close(undead_bodies *bodies);

// True if the elements beyond the count of the storage at `block` may be in use.
bool undead_is_held(const undead_bodies *bodies, uintptr_t block);
