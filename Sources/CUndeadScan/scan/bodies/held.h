// The storage of collections, and objects with existentials, that a thread may be changing: counts, bitmaps and types may
// disagree with what is there for a moment.
// Likewise the memory of tasks that may be running.
#pragma once
#include "scan/bodies/body.h"
#include "scan/roots/roots.h"

#define UNDEAD_MOST_HELD 8192u

// Lists what stacks and registers refer to, hash tables only where a thread was stopped while it ran. `caller` is the
// thread that asked for the check, 0 if none did: if it waits in a task (roots.h), that task's frames are like those of others that wait. Sets `bodies->held`, to be given back with `undead_held_close`; without
// memory all storage counts as held.
void undead_held_open(undead_bodies *bodies, const undead_roots *roots, const undead_world *world, int32_t caller);
void undead_held_close(undead_bodies *bodies);

// Adds a block; to be sorted again before it is asked for.
void undead_hold(undead_bodies *bodies, uintptr_t block);
void undead_held_sort(undead_bodies *bodies);

// True if a thread may be changing the storage at `block`.
bool undead_is_held(const undead_bodies *bodies, uintptr_t block);
