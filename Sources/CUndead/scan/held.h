// Objects that a thread may be working on: collections whose counts and bitmaps may disagree with their elements for a
// moment, and objects in their deinit, whose fields are still in use.
#pragma once
#include "scan/body.h"
#include "scan/roots.h"

#define UNDEAD_MOST_HELD 8192u

// Lists those that stacks and registers refer to, hash tables only where a thread was stopped while it ran. `caller` is
// the thread that asked for the check, 0 if none did. Sets `bodies->held`, to be given back with `undead_held_close`; without memory all count as held.
void undead_held_open(undead_bodies *bodies, const undead_roots *roots, const undead_world *world, int32_t caller);
void undead_held_close(undead_bodies *bodies);

// True if a thread may be working on the object at `block`.
bool undead_is_held(const undead_bodies *bodies, uintptr_t block);
