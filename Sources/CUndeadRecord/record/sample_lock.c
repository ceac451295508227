#define _GNU_SOURCE
#include "record/sample_lock.h"
#include "platform/raw_x86_64.h"
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

enum { SPINS = 200, PATIENCE = 500 };   // of 1 ms

static volatile int32_t holder;   // 1 while it is held
static volatile uint32_t waiting;

static bool try_take(void) {
  int32_t nobody = 0;
  return __atomic_compare_exchange_n(&holder, &nobody, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool wait_for_it(void) {
  const struct timespec slice = {.tv_nsec = 1000000};
  for (int i = 0; i < SPINS; i++) {
    if (try_take()) return true;
    __builtin_ia32_pause();
  }
  __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
  bool taken = false;
  for (int i = 0; i < PATIENCE && !(taken = try_take()); i++)
    undead_raw4(SYS_futex, (long)&holder, FUTEX_WAIT_PRIVATE, 1, (long)&slice);
  __atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
  return taken;
}

bool undead_sample_lock_take(undead_sample_lock *lock) {
  uint64_t all = ~0ull;
  undead_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&lock->signals, sizeof all);
  if (try_take() || wait_for_it()) return true;
  undead_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&lock->signals, 0, sizeof all);
  return false;
}

void undead_sample_lock_release(const undead_sample_lock *lock) {
  __atomic_store_n(&holder, 0, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) undead_raw3(SYS_futex, (long)&holder, FUTEX_WAKE_PRIVATE, 1);
  undead_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&lock->signals, 0, sizeof lock->signals);
}

bool undead_sample_lock_inherited(void) { return __atomic_exchange_n(&holder, 0, __ATOMIC_ACQ_REL) != 0; }
