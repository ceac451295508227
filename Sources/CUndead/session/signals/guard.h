// Containment of our own crashes: naming reads the program's memory and calls its runtime, and either may be damaged.
#pragma once
#include <signal.h>

#pragma GCC visibility push(hidden)

// Runs `work(context)` on the calling thread, not nested. Returns 0, or the signal by which it crashed: then it was left in the
// middle; or SIGABRT without running it, if too many threads are at it. Crashes of threads that are not guarded go where they
// would have gone.
int undead_guarded(void (*work)(void *), void *context);

void undead_guards_after_fork_in_child(void);

// Where the program asks for an action while a handler of ours stands there: its own.
void undead_guard_hide(int number, struct sigaction *action);

#pragma GCC visibility pop
