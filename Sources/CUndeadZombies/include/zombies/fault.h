// Faults of the program: reading a scribbled word as a reference, or a field on a guard page.
#pragma once
#include <signal.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Stands in front of the program's actions for SIGSEGV and SIGBUS.
void undead_fault_handlers_install(void);

// The program sets or asks for an action: ours stays in front, and what it sees is its own. False if the signal is not
// ours to keep; else `*result` is what the call is to return.
bool undead_fault_keep(int signal, const struct sigaction *action, struct sigaction *old, int *result);

// Takes the signals that stand in front out of a set to be blocked. False if they are not in it.
bool undead_fault_unblock(sigset_t *set);

#pragma GCC visibility pop
