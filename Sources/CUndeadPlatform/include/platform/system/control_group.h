// What the control groups of this process allow it, by either version of them.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

// In bytes: the least of the group's own limit and those of the groups that it is in; UINT64_MAX if there is none.
uint64_t undead_group_memory_limit(void);

#pragma GCC visibility pop
