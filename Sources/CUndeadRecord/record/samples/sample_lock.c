#include "record/samples/samples.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "record/sample_table.h"
#include "record/samples/sample_stacks.h"
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

enum { SPINS = 200, PATIENCE = 500 };   // of 1 ms

// In a page that a fork wipes: the child's lock is free, and it can see that it is a child.
typedef struct {
  volatile int32_t held;
  volatile uint32_t waiting;
  uint32_t is_parent;
} lock_words;

static lock_words without_page = {.is_parent = 1}, *words = &without_page;
static volatile bool busy;   // copied by a fork

void undead_sample_lock_prepare(void) {
  if (words != &without_page) return;
  lock_words *page = undead_map(sizeof *page);
  if (!page) return;
  page->is_parent = 1;
  if (undead_raw3(SYS_madvise, (long)page, 4096, MADV_WIPEONFORK) == 0) words = page;
  else undead_unmap(page, sizeof *page);
}

void undead_sample_forget_tables(void) {
  undead_samples_forget_all();
  undead_stacks_forget_all();
}

static bool try_take(void) {
  int32_t nobody = 0;
  return __atomic_compare_exchange_n(&words->held, &nobody, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void begin(void) {
  if (!words->is_parent) {
    words->is_parent = 1;
    if (busy) undead_sample_forget_tables();
  }
  busy = true;
}

static bool wait_for_it(void) {
  const struct timespec slice = {.tv_nsec = 1000000};
  for (int i = 0; i < SPINS; i++) {
    if (try_take()) return true;
    undead_spin();
  }
  __atomic_add_fetch(&words->waiting, 1, __ATOMIC_SEQ_CST);
  bool taken = false;
  for (int i = 0; i < PATIENCE && !(taken = try_take()); i++)
    undead_raw4(SYS_futex, (long)&words->held, FUTEX_WAIT_PRIVATE, 1, (long)&slice);
  __atomic_sub_fetch(&words->waiting, 1, __ATOMIC_SEQ_CST);
  return taken;
}

bool undead_sample_lock_take(undead_sample_lock *lock) {
  uint64_t all = ~0ull;
  undead_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&lock->signals, sizeof all);
  if (try_take() || wait_for_it()) {
    begin();
    return true;
  }
  undead_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&lock->signals, 0, sizeof all);
  return false;
}

void undead_sample_lock_release(const undead_sample_lock *lock) {
  busy = false;
  __atomic_store_n(&words->held, 0, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&words->waiting, __ATOMIC_SEQ_CST))
    undead_raw3(SYS_futex, (long)&words->held, FUTEX_WAKE_PRIVATE, 1);
  undead_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&lock->signals, 0, sizeof lock->signals);
}

bool undead_sample_lock_inherited(void) {
  bool was_busy = busy;
  busy = false;
  *words = (lock_words){.is_parent = 1};
  return was_busy;
}
