// Pages that nobody can use while what lies there is dead.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// As mprotect(). Keeps errno.
bool undead_dead_pages_protect(uintptr_t low, uintptr_t high, int protection);
// Opens them with what they hold, also where the system refuses that. Keeps errno.
bool undead_dead_pages_open(uintptr_t low, uintptr_t high);

#pragma GCC visibility pop
