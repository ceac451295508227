// More threads for the work of the helper. They belong to its process, so that the program has no threads that it did not
// make, and have all signals blocked. Their thread-local storage is that of the helper: what they run may not use it.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define UNDEAD_MOST_CREW 8u   // with the thread that starts the others

// How many threads are to work together: as many as there are processors that the program may use, or as
// UNDEAD_SCAN_THREADS says. 1 beside a program that runs, unless the setting asks for more there.
uint32_t undead_crew_size(bool program_runs);

// Starts up to `others` threads that run `work` with 1, 2 and so on; returns how many there are. One at a time.
uint32_t undead_crew_start(uint32_t others, void (*work)(void *context, uint32_t index), void *context);
// Waits until they have ended. If one of them crashed, the helper then crashes as if it had done so itself.
void undead_crew_join(void);

// One of the threads crashed: the others are to end, and to change nothing any more. To be asked every now and then.
extern uint32_t undead_crew_is_to_leave;
static inline bool undead_crew_leaves(void) { return __atomic_load_n(&undead_crew_is_to_leave, __ATOMIC_RELAXED); }

// Takes a lock, which is given back by storing 0. False if the threads are to end, as one of them crashed: it may have had the lock.
bool undead_crew_takes(uint32_t *lock);

// In the handler of faults. Ends the thread if it is one that was started; else all of those.
void undead_crew_crash(int number, uintptr_t address);
// Whether the fault is that a filter of system calls forbids more threads: then the call fails, and no more is tried.
bool undead_crew_is_refused(int number, void *context);
// Whether a filter may have ended the process because a thread was to be made; none is, from now on.
bool undead_crew_gives_up(void);
