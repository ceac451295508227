// What keeps samples apart, and rare.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// The lock of samples and their backtraces. Samples are rare, so one lock will do; all signals wait while it is held, so no
// handler of the same thread finds it taken, or leaves it for good.

typedef struct {
  uint64_t signals;
} undead_sample_lock;

// Before the first sample.
void undead_sample_lock_prepare(void);

// False if it could not be had in time: its holder is stuck. In the child of a fork what another thread was changing is
// forgotten first (undead_sample_forget_tables), even if no handler of fork was called.
bool undead_sample_lock_take(undead_sample_lock *lock);
void undead_sample_lock_release(const undead_sample_lock *lock);

// In the child of a fork: true if another thread held it, and may have left things half done. Nobody holds it then.
bool undead_sample_lock_inherited(void);
// What the lock guards.
void undead_sample_forget_tables(void);

// Keeps the time that sampling takes below a share of the process's own: the sample becomes thinner, not the service slower.

#define UNDEAD_SAMPLE_DOUBLINGS 10u   // of the mean

// The mean that new gaps are drawn with.
extern uint32_t undead_sample_mean;
extern uint32_t undead_sample_least, undead_sample_most;   // that it was

// The mean stays as it is (for tests).
extern bool undead_governor_is_held;

// Before the first sample.
void undead_governor_begin(uint32_t mean);

// Nanoseconds of a clock that is cheap to read.
uint64_t undead_governor_now(void);

// A sample took so long. Under the lock of samples.
void undead_governor_note(uint64_t start, uint64_t end);
// There is no room for more samples.
void undead_governor_thin(void);

uint64_t undead_governor_spent(void);

// What becomes of the mean if samples took `spent` of `used` nanoseconds.
uint32_t undead_governor_decide(uint32_t mean, uint32_t base, uint64_t spent, uint64_t used);

#pragma GCC visibility pop
