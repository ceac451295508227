// The settings of the instrument.
#pragma once

#pragma GCC visibility push(hidden)

// The value of an environment variable that is meant for the instrument, or NULL. Always NULL in a program that runs with
// other rights than its caller's (setuid): its caller must not make it write files. Needs no malloc, and works
// from the first moment on, before libc has its environment.
const char *undead_setting(const char *name);

#pragma GCC visibility pop
