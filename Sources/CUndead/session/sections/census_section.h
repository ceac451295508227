// The section of a census file: how many live blocks of each type there are.
#pragma once
#include "session/sections/snapshot_sections.h"
#include "session/state/check_data.h"

#pragma GCC visibility push(hidden)

// Nothing where the check counts no types.
void undead_census_write(undead_writer *writer, const undead_check *check);

#pragma GCC visibility pop
