// The lock of samples and their backtraces. Samples are rare, so one lock will do; all signals wait while it is held, so no
// handler of the same thread finds it taken, or leaves it for good.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

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
void undead_sample_forget_tables(void);

#pragma GCC visibility pop
