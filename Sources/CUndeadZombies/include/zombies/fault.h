// Faults of the program: reading a scribbled word as a reference, or a field on a guard page.
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include "unwind/walk_x86_64.h"

#pragma GCC visibility push(hidden)

// Stands in front of the program's actions for SIGSEGV and SIGBUS.
void undead_fault_handlers_install(void);

// The program sets or asks for an action: ours stays in front, and what it sees is its own. False if the signal is not
// ours to keep; else `*result` is what the call is to return.
bool undead_fault_keep(int signal, const struct sigaction *action, struct sigaction *old, int *result);

// Takes the signals that stand in front out of a set to be blocked. False if they are not in it.
bool undead_fault_unblock(sigset_t *set);

// Copies memory that the program named, in whole words; false if it is none. A fault there is caught, which costs nothing while there
// is none; where it would not be, the kernel is asked.
bool undead_fault_copy(void *to, const void *from, size_t size);

// A call of the system is to use `address`, which lies in the pool, for `caller`. True if it was closed and is open now: that is
// reported.
bool undead_fault_before_call(uintptr_t address, bool is_write, undead_frame caller);

#pragma GCC visibility pop
