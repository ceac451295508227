#pragma once
#include "platform/maps/maps.h"

#pragma GCC visibility push(hidden)

// Calls `visit` for each block of C that waits in the list of a serial or concurrent queue of libdispatch, with UNDEAD_LEFT_SUSPENDED,
// UNDEAD_LEFT_BUSY or 0 for the state of that queue. Under the lock of checks.
typedef void (*undead_left_block_visitor)(void *context, uintptr_t block, uint32_t status);
void undead_left_blocks_each(const undead_module *dispatch, undead_left_block_visitor visit, void *context);

#pragma GCC visibility pop
