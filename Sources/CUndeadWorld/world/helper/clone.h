// Processes that share the memory of this one.
#pragma once
#include <signal.h>
#include <stdint.h>

// clone() on a stack of its own; `entry` runs in the child, and its result is the exit status. There is no exit signal:
// neither SIGCHLD nor wait() of the program sees this child. The kernel clears `*tid`, a futex, when it is gone.
long undead_clone_on_stack(unsigned long more_flags, void *stack_top, uint32_t *tid, int (*entry)(void *));

// In such a child: handlers of the program must not run there, and a core dump of a process that shares the program's
// memory would, on older kernels, kill the program too. So faults end in this handler.
void undead_take_over_faults(void (*handler)(int, siginfo_t *, void *));
