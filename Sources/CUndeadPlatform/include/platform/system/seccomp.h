// Filters of system calls (seccomp): how many are in force.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Filters in force on the calling thread: 0 for none, or if /proc does not show; at least 1 in a process that may use
// four system calls only (strict mode). Makes only system calls that the dynamic loader made to load this library.
uint32_t undead_seccomp_filters(void);

#pragma GCC visibility pop
