// Pages that nobody can use while what lies there is dead, and mappings for the program when they have taken all others.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// As mprotect(). Keeps errno.
bool undead_dead_pages_protect(uintptr_t low, uintptr_t high, int protection);
// Opens them with what they hold, also where the system refuses that. Keeps errno.
bool undead_dead_pages_open(uintptr_t low, uintptr_t high);

// The kernel allows a process so many mappings, and malloc needs some. Where pages of ours meet the limit, the program gets these.
void undead_spare_mappings_prepare(void);
// True from then on: nobody is to make more mappings for dead objects.
bool undead_spare_mappings_are_given(void);
// False if they were given before. Async-signal-safe.
bool undead_spare_mappings_give(void);

#pragma GCC visibility pop
