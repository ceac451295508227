// What the code that a signal interrupted was doing: may a thread be created now, and how does its system call go on?
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Learns where the loader and libc are, and follows fork. Called once, with one thread.
void undead_interrupted_prepare(void);

// True if the interrupted code holds no lock of malloc, of the loader or of thread creation. `context` is the third
// argument of the signal handler. Async-signal-safe.
bool undead_interrupted_safely(const void *context);

// Why exit() was called at a moment when no thread can be created, or NULL.
const char *undead_exit_obstacle(void);

// undead_restart_system_call with the libc of this process.
void undead_restart_interrupted(void *context);

#pragma GCC visibility pop
