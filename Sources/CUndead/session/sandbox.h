// Sandboxes that a program puts itself into: filters of system calls (seccomp) that may not allow what the instrument
// needs. A filter can neither be asked what it does nor tried out (it may kill), so it is read when it is installed.
#pragma once
#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef enum {
  UNDEAD_SANDBOX_HARMLESS,     // every call that we make is allowed, or fails as it might anyway
  UNDEAD_SANDBOX_NO_TRACING,   // likewise, but a thread must not be traced
  UNDEAD_SANDBOX_HARMFUL,      // one of our calls would end the process, or reach a handler of the program
} undead_sandbox_kind;

undead_sandbox_kind undead_sandbox_judge(const struct sock_filter *program, uint32_t length);

// True if the calling thread has filters that were installed unseen, by a system call that did not go through libc.
bool undead_sandbox_is_unknown(void);

// Looks up the interposed functions while that is still safe.
void undead_sandbox_find_next(void);

#pragma GCC visibility pop
