// Faults on pages of the pool.
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#pragma GCC visibility push(hidden)

// True if the fault is one of the pool's. `*goes_on`: the program can go on.
bool undead_fenced_fault(const siginfo_t *info, const ucontext_t *context, bool *goes_on);

#pragma GCC visibility pop
