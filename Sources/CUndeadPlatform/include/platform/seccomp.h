// Filters of system calls (seccomp): how many are in force, and what a filter does with a call.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Filters in force on the calling thread: 0 for none, or if /proc does not tell; at least 1 in a process that may use
// four system calls only (strict mode). Makes only system calls that the dynamic loader made to load this library.
uint32_t undead_seccomp_filters(void);

// What the filter answers to the call (SECCOMP_RET_...), as the kernel would compute it; SECCOMP_RET_KILL_PROCESS for a
// program that the kernel would not accept.
uint32_t undead_seccomp_run(const struct sock_filter *program, uint32_t length, const struct seccomp_data *call);

#pragma GCC visibility pop
