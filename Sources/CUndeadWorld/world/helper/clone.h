// Processes that share the memory of this one.
#pragma once
#include "world/helper.h"
#include <signal.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// clone() on a stack of its own; `entry` runs in the child, and its result is the exit status. There is no exit signal:
// neither SIGCHLD nor wait() of the program sees this child. The kernel clears `*tid`, a futex, when it is gone.
long undead_clone_on_stack(unsigned long more_flags, void *stack_top, uint32_t *tid, int (*entry)(void *));

// In such a child: handlers of the program must not run there, and a core dump of a process that shares the program's
// memory would, on older kernels, kill the program too. So faults end in this handler.
void undead_take_over_faults(void (*handler)(int, siginfo_t *, void *));

// How a helper ends that crashed.

#define UNDEAD_CRASH_EXIT 128   // plus the signal

extern volatile uintptr_t *undead_crash_address;   // shared with copies: what could not be read

// Where work is done in place: what a fault leads to instead of the end of the process; does not come back.
void undead_helper_at_fault(void (*function)(int number, uintptr_t address));

// A helper's work done by the calling thread itself, in a process that may crash.

undead_helper_report undead_helper_run_in_place(int (*work)(void *), void *context);

#pragma GCC visibility pop
