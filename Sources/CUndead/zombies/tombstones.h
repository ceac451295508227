// What is remembered of objects that have left the quarantine: the last one at each of some thousand places.
#pragma once
#include "zombies/quarantine.h"

#pragma GCC visibility push(hidden)

// Called with the quarantine locked.
void undead_tombstones_add(const undead_dead *dead);
// Copies what is known of the last object that was at `address`. Async-signal-safe.
bool undead_tombstones_find(uintptr_t address, undead_dead *dead);

#pragma GCC visibility pop
