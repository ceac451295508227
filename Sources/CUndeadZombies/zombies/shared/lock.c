#include "zombies/shared/lock.h"
#include "platform/processor/processor.h"
#include "record/abandoned.h"
#include "zombies/shared/state.h"
#include <errno.h>
#include <sched.h>

enum { SPINS = 100, PATIENCE = 2000000000 };   // nanoseconds

// True if the lock was left behind by a function of this thread that is not on its stack any more.
static __attribute__((noinline)) bool was_left(uintptr_t holder, uintptr_t taker) {
  const uintptr_t *own = __builtin_frame_address(0);
  if (holder <= UNDEAD_LOCK_HELD || !undead_is_on_own_stack(holder)) return false;
  undead_frame caller = {own[1], (uintptr_t)(own + 2), own[0]};
  // A frame at the very place of the holder has replaced it.
  return holder == taker || !undead_is_under_way(&undead_thread, holder, caller);
}

bool undead_lock_wait(undead_bounded_lock *lock, uintptr_t own) {
  uintptr_t holder = __atomic_load_n(&lock->taken, __ATOMIC_RELAXED);
  // Nobody else can have it: only this thread writes addresses of its stack.
  if (was_left(holder, own)) {
    __atomic_store_n(&lock->taken, own, __ATOMIC_RELAXED);
    return true;
  }
  for (int i = 0; i < SPINS; i++) {
    if (!__atomic_load_n(&lock->taken, __ATOMIC_RELAXED) && undead_lock_try(lock, own)) return true;
    undead_spin();
  }
  int saved = errno;
  uint64_t deadline = undead_nanoseconds(CLOCK_MONOTONIC_COARSE) + PATIENCE;
  bool taken = false;
  while (!(taken = undead_lock_try(lock, own)) && undead_nanoseconds(CLOCK_MONOTONIC_COARSE) <= deadline) sched_yield();
  errno = saved;
  return taken;
}
