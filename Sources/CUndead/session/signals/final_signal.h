// Ending the process by a signal, as if the instrument had not caught it.
#pragma once

#pragma GCC visibility push(hidden)

// Restores the default action of `signal` and delivers it to this process. Returns only where the kernel protects the
// process from it (process 1 of a container). Async-signal-safe.
void undead_die_of(int signal);

#pragma GCC visibility pop
