// Census files: how many live blocks of each type there are, as a snapshot without leaks.
#pragma once
#include "session/state/check_data.h"

#pragma GCC visibility push(hidden)

// Counts and writes what the tool asked for; the reason of a failure goes to the check.
void undead_census_on_request(undead_check *check);

#pragma GCC visibility pop
