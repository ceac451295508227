#define _GNU_SOURCE
#include "zombies/lock.h"
#include <errno.h>
#include <sched.h>
#include <time.h>

enum { SPINS = 100, PATIENCE_SECONDS = 2 };

static int64_t seconds(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec;
}

bool undead_lock_wait(undead_bounded_lock *lock) {
  for (int i = 0; i < SPINS; i++) {
    if (!__atomic_load_n(&lock->taken, __ATOMIC_RELAXED) && undead_lock_try(lock)) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  int saved = errno;
  int64_t deadline = seconds() + PATIENCE_SECONDS;
  bool taken = false;
  while (!(taken = undead_lock_try(lock)) && seconds() <= deadline) sched_yield();
  errno = saved;
  return taken;
}
