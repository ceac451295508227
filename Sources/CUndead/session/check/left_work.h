#pragma once
#include "platform/maps/maps.h"

#pragma GCC visibility push(hidden)

// Under the lock of checks: a loaded library, by a part of its path; and whether a return address is in none of the toolchain's.
const undead_module *undead_left_library(const char *name);
bool undead_left_is_of_program(uintptr_t frame);

// What a block of C on the heap begins with.
uintptr_t undead_left_metadata_of_blocks(const undead_module *dispatch);

#pragma GCC visibility pop
