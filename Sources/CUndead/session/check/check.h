// One look for leaks: a scan and its snapshot, on a thread made for it. At most one is under way in a process.
#pragma once
#include "session/state/check_data.h"

#pragma GCC visibility push(hidden)

// Claims the check, which then has all fields 0, or returns NULL if another one is under way. Async-signal-safe.
undead_check *undead_check_try_claim(void);

// The same, waiting for the other one; NULL if that one makes no progress any more.
undead_check *undead_check_claim(void);

// Starts the thread for a claimed check. On failure fills in the message and returns false: the claim remains.
bool undead_check_start(undead_check *check);

// Waits for a started check. False if it makes no progress any more: it is then given up, never to be claimed again.
bool undead_check_wait(undead_check *check);

// Lets the check that runs when the program ends finish it by `signal`. False if that check does not run, or is to end
// by a signal already. Async-signal-safe.
bool undead_check_end_with(int signal);

// Gives the claim back.
void undead_check_release(undead_check *check);

// Around a signal handler that may start a check. The check waits, not for long, until handlers have ended: the frames
// of one on the interrupted stack hold what ended calls left there, which would hide leaks. Async-signal-safe.
void undead_check_handler_begins(void);
void undead_check_handler_ends(void);

// Around a fork: the child must not inherit locks of the Swift runtime or of the loader that the thread of a check
// holds, since nobody would release them. Waits for a check under way, not for long, and keeps new ones from starting.
void undead_check_before_fork(void);
void undead_check_after_fork_in_parent(void);
void undead_check_after_fork_in_child(void);

#pragma GCC visibility pop
