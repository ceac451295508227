#include "zombies/shared/threads.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Beyond so many threads the first ones are forgotten.
enum { THREADS = 1 << 14 };

typedef struct {
  int32_t tid;
  uint32_t place;   // that this entry is for now
  char name[UNDEAD_THREAD_NAME_BYTES];
} entry;

__thread undead_zombie_thread undead_zombie_self __attribute__((tls_model("initial-exec")));

static entry *table;
static uint32_t places;

static entry *entries(void) {
  entry *now = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
  if (now) return now;
  entry *fresh = undead_map(THREADS * sizeof *fresh);
  if (!fresh) return NULL;
  if (__atomic_compare_exchange_n(&table, &now, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
  undead_unmap(fresh, THREADS * sizeof *fresh);
  return now;
}

bool undead_zombie_is_inside(undead_frame at) {
  uintptr_t function = undead_zombie_self.inside;
  // The caller stands where that function stood: it is not there any more.
  bool replaced = function && at.sp == function + 2 * sizeof(uintptr_t);
  bool is = function && !replaced && undead_is_under_way(&undead_thread, function, at);
  if (!is) undead_zombie_self.inside = 0;
  return is;
}

uint32_t undead_thread_register(void) {
  undead_zombie_thread *self = &undead_zombie_self;
  entry *all = entries();
  if (!all) return 0;
  int saved = errno;
  if (!self->place) self->place = __atomic_add_fetch(&places, 1, __ATOMIC_RELAXED);
  entry *own = &all[self->place % THREADS];
  own->place = self->place;
  own->tid = (int32_t)syscall(SYS_gettid);
  prctl(PR_GET_NAME, own->name);
  errno = saved;
  return self->place;
}

void undead_thread_at(uint32_t place, int32_t *tid, char *name) {
  const entry *found = table && place ? &table[place % THREADS] : NULL;
  *tid = 0;
  name[0] = 0;
  if (!found || found->place != place) return;
  *tid = found->tid;
  memcpy(name, found->name, UNDEAD_THREAD_NAME_BYTES);
  name[UNDEAD_THREAD_NAME_BYTES - 1] = 0;
}

// What the kernel takes for a set of signals: one bit for each.
enum { FAULTS_IN_MASK = 1 << (SIGSEGV - 1) | 1 << (SIGBUS - 1) };

void undead_thread_let_faults_in(void) {
  if (undead_zombie_self.faults != UNDEAD_FAULTS_UNKNOWN) return;
  uint64_t faults = FAULTS_IN_MASK;
  int saved = errno;
  bool done = syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, NULL, sizeof faults) == 0;
  undead_zombie_self.faults = done ? UNDEAD_FAULTS_LET_IN : UNDEAD_FAULTS_HELD;
  errno = saved;
}

void undead_threads_after_fork_in_child(void) { undead_zombie_self.place = undead_zombie_self.deaths = 0; }
