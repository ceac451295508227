// Retains of dead objects that wait for a better explanation. Code that is not optimised retains an object before it
// sends it a message or releases it: what comes next on the thread tells what the program was about.
#pragma once
#include "zombies/reports/report.h"

#pragma GCC visibility push(hidden)

// Counts the use, and reports it unless its place has been reported often enough. Keeps errno. Async-signal-safe but
// for the handler of the program, which is not called in signal handlers (`in_signal`).
void undead_zombie_used(const undead_zombie_use *use, bool in_signal);

// A retain: it is in the log from now on. True if an older one of this thread has been reported, and so the policy's
// trap is due.
bool undead_zombie_retained(const undead_zombie_use *use);
// A release. True if it has been reported: as a release if it was one too many.
bool undead_zombie_released(const undead_zombie_use *use);
// A retain or release of a living object. True if a waiting retain has been reported: there was patience enough.
bool undead_zombie_waits_no_longer(void);
// Reports what still waits: on the calling thread, or on all. True if there was something.
bool undead_zombie_settle(bool all_threads, bool in_signal);
// The threads that waited are gone; what they met is in the parent's log.
void undead_zombie_waiting_after_fork_in_child(void);

#pragma GCC visibility pop
