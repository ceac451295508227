// What the files with premises of the scan share.
#pragma once
#include "runtime/premises.h"

#pragma GCC visibility push(hidden)

void undead_premises_of_allocator(undead_premises *premises);
void undead_premises_of_dispatch(undead_premises *premises);

#pragma GCC visibility pop
