// What the parts of a session must know of a replica.
#pragma once
#include "undead_replica.h"
#include "world/given.h"

#pragma GCC visibility push(hidden)

// Why the blocks of the program cannot be known, or UNDEAD_REPLICA_DONE: they are in the registry then.
undead_replica_end undead_replica_find_blocks(undead_replica_request *request);

// Adds what the program's memory does not show, and what the kernel holds, to the words that are held. False without memory.
bool undead_replica_find_words(const undead_replica_request *request, undead_given_world *world);

#pragma GCC visibility pop
