// The lock of samples and their backtraces. Samples are rare, so one lock will do; all signals wait while it is held, so no
// handler of the same thread finds it taken, or leaves it for good.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  uint64_t signals;
} undead_sample_lock;

// False if it could not be had in time: whoever holds it is stuck.
bool undead_sample_lock_take(undead_sample_lock *lock);
void undead_sample_lock_release(const undead_sample_lock *lock);

// In the child of a fork: true if another thread held it, and may have left things half done.
bool undead_sample_lock_inherited(void);

#pragma GCC visibility pop
