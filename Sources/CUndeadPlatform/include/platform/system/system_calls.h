// System calls of the program that a signal of ours ends.
#pragma once

#pragma GCC visibility push(hidden)

// Lets a system call that a signal interrupted start again when the handler returns, as if nothing had happened, if the
// code before it shows its number. One with a relative timeout starts with the whole of it, unless the kernel said what
// is left.
// `context` is the third argument of the handler. Async-signal-safe.
void undead_restart_system_call(void *context);

#pragma GCC visibility pop
