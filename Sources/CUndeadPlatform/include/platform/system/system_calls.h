// System calls of the program that a signal of ours ends.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Lets a system call that a signal interrupted start again when the handler returns, as if nothing had happened, if the
// code before it shows its number. One with a relative timeout gets the rest of it, counted from the first such signal on where
// the kernel does not say what is left.
// `context` is the third argument of the handler; `in_libc`: it was code of libc. Async-signal-safe.
void undead_restart_system_call(void *context, bool in_libc);

#pragma GCC visibility pop
