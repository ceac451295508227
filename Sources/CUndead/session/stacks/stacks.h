// What the session knows of the stack of the calling thread, and of the one that a signal interrupted.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// What the code that a signal interrupted was doing: may a thread be created now, and how does its system call go on?

// Learns where the loader and libc are, and follows fork. Called once, with one thread.
void undead_interrupted_prepare(void);

// True if the interrupted code holds no lock of malloc, of the loader or of thread creation. `context` is the third
// argument of the signal handler. Async-signal-safe.
bool undead_interrupted_safely(const void *context);

// Why exit() was called at a moment when no thread can be created, or NULL.
const char *undead_exit_obstacle(void);

// undead_restart_system_call with the libc of this process.
void undead_restart_interrupted(void *context);

// Clears the stack of the calling thread below the caller's frame, for the end of a thread of ours: glibc keeps the stack
// for another one, in whose frames addresses of leaked objects would be references.
void undead_discard_stack(void);

// For the end of a signal handler: clears what it left on an alternate signal stack, which is memory like any other to a
// scan. Async-signal-safe.
void undead_clear_alternate_stack(void);

#pragma GCC visibility pop
