// Census files: how many live blocks of each type there are, as a snapshot without leaks.
#pragma once
#include "session/check/check.h"
#include "session/sections/snapshot_sections.h"

#pragma GCC visibility push(hidden)

// Counts and writes what the tool asked for; the reason of a failure goes to the check.
void undead_census_on_request(undead_check *check);

// The section of a census file.
void undead_census_write(undead_writer *writer, const undead_check *check);

#pragma GCC visibility pop
