// The kernel allows a process so many mappings, and malloc needs some. Where pages of ours meet the limit, the program gets these.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

void undead_spare_mappings_prepare(void);
// True from then on: nobody is to make more mappings for dead objects.
bool undead_spare_mappings_are_given(void);
// False if they were given before. Async-signal-safe.
bool undead_spare_mappings_give(void);

#pragma GCC visibility pop
