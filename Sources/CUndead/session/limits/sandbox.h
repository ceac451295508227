// Sandboxes that a program puts itself into: filters of system calls (seccomp). What a filter does can neither be asked nor tried,
// since it may kill. So the instrument stands aside before one is installed. Filters that were there before, such as those of a
// container or a service manager, hold for the tool, too, and are known to do no harm (record/reach.h).
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// True if the calling thread has filters that were installed unseen, by a system call that did not go through libc.
bool undead_sandbox_is_unknown(void);

// Looks up the interposed functions while that is still safe.
void undead_sandbox_find_next(void);

#pragma GCC visibility pop
