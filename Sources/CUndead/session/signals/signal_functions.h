// The functions that set the actions of signals, interposed so that the program sees the default action where it has
// set no other, although a handler of ours stands there.
#pragma once
#include <signal.h>

#pragma GCC visibility push(hidden)

// Looks up the interposed functions while that is still safe.
void undead_signal_find_next(void);

// The action as the kernel has it: not hidden. Async-signal-safe.
int undead_signal_set_action(int signal, const struct sigaction *action, struct sigaction *old);
void undead_signal_restore_default(int signal);

#pragma GCC visibility pop
