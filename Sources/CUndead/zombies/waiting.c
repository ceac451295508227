#define _GNU_SOURCE
#include "zombies/waiting.h"
#include "zombies/functions.h"
#include "zombies/sites.h"
#include "zombies/state.h"
#include "zombies/threads.h"
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLACES = 64, PATIENCE = 16, PATIENCE_WHEN_BALANCED = 4 };

// At most one for each thread.
typedef struct {
  bool used;
  int32_t thread;
  uint32_t retains;        // that have had no release yet
  uint32_t patience;       // retains and releases of others until it is reported
  undead_zombie_use use;
  undead_zombie_finding *finding;   // NULL: the place has been reported often enough
} waiting;

static undead_bounded_lock lock;
static waiting places[PLACES];
static uint32_t in_use;

// Called with the lock.
static waiting *find_own(void) {
  if (!in_use) return NULL;
  int32_t thread = (int32_t)syscall(SYS_gettid);
  for (uint32_t i = 0; i < PLACES; i++)
    if (places[i].used && places[i].thread == thread) return &places[i];
  return NULL;
}

// Every retain and release is looked at while somebody waits.
static void set_in_use(uint32_t count) {
  if ((in_use == 0) != (count == 0)) undead_swift_functions_watch_closely(count != 0);
  in_use = count;
}

// Called with the lock; what is returned is the caller's.
static waiting take(waiting *at) {
  waiting taken = *at;
  at->used = false;
  set_in_use(in_use - 1);
  return taken;
}

static void deliver(waiting *taken, bool in_signal) {
  uint64_t count;
  undead_site_count(&taken->use, &count);
  if (!taken->finding) return;
  undead_count(&undead_zombie_counts.reports);
  undead_zombie_finding_deliver(taken->finding, in_signal);
  undead_zombie_finding_drop(taken->finding);
}

static void discard(waiting *taken) {
  if (!taken->finding) return;
  undead_site_forget(&taken->use);
  undead_zombie_finding_drop(taken->finding);
}

// Called with the lock. False if all places are taken.
static bool wait_for_more(const undead_zombie_use *use) {
  for (uint32_t i = 0; i < PLACES; i++) {
    if (places[i].used) continue;
    places[i] = (waiting){.used = true, .retains = 1, .patience = PATIENCE, .use = *use};
    places[i].thread = (int32_t)syscall(SYS_gettid);
    set_in_use(in_use + 1);
    if (undead_site_is_wanted(use)) places[i].finding = undead_zombie_finding_make(use, 1);
    return true;
  }
  return false;
}

typedef enum { RETAIN, RELEASE, OTHERS } event;

// What an event of this thread means to what waits: 1 if it is explained by it, 0 if not; `*due` is to be reported.
static bool look_at(event event, const undead_zombie_use *use, waiting *due, bool *is_due) {
  bool same, done = false;
  waiting *own = find_own();
  *is_due = false;
  same = own && use && own->use.object == use->object;
  if (same && event == RETAIN) {
    own->retains++;
    return true;
  }
  if (same && own->retains) {
    own->retains--;
    if (!own->retains) own->patience = PATIENCE_WHEN_BALANCED;
    return true;
  }
  if (own && !same && (event != OTHERS || --own->patience == 0)) {
    *due = take(own);
    *is_due = true;
  }
  if (event == RETAIN) done = wait_for_more(use);
  return done;
}

static bool happened(event event, const undead_zombie_use *use) {
  undead_zombie_thread *self = &undead_zombie_self;
  if (self->inside) return false;
  int saved = errno;
  waiting due;
  bool is_due = false, done = false;
  self->inside++;
  if (undead_lock_take(&lock)) {
    done = look_at(event, use, &due, &is_due);
    undead_lock_release(&lock);
  }
  if (is_due) deliver(&due, false);
  self->inside--;
  errno = saved;
  if (!done && use) undead_zombie_used(use, false);
  return is_due || (!done && use);
}

bool undead_zombie_retained(const undead_zombie_use *use) { return happened(RETAIN, use); }
bool undead_zombie_released(const undead_zombie_use *use) { return happened(RELEASE, use); }
bool undead_zombie_waits_no_longer(void) { return in_use && happened(OTHERS, NULL); }

void undead_zombie_explained(uintptr_t object) {
  if (!in_use || !object) return;
  for (uint32_t i = 0; i < PLACES; i++) {
    waiting taken = {0};
    if (!places[i].used || places[i].use.object != object || !undead_lock_take(&lock)) continue;
    if (places[i].used && places[i].use.object == object) taken = take(&places[i]);
    undead_lock_release(&lock);
    if (taken.used) discard(&taken);
  }
}

bool undead_zombie_settle(bool all_threads, bool in_signal) {
  undead_zombie_thread *self = &undead_zombie_self;
  if (!in_use || self->inside) return false;
  int saved = errno;
  bool any = false;
  int32_t thread = (int32_t)syscall(SYS_gettid);
  self->inside++;
  for (uint32_t i = 0; i < PLACES; i++) {
    waiting taken = {0};
    if (!undead_lock_take(&lock)) break;
    if (places[i].used && (all_threads || places[i].thread == thread)) taken = take(&places[i]);
    undead_lock_release(&lock);
    if (taken.used) deliver(&taken, in_signal);
    any = any || taken.used;
  }
  self->inside--;
  errno = saved;
  return any;
}

void undead_zombie_waiting_after_fork_in_child(void) {
  undead_lock_release(&lock);
  for (uint32_t i = 0; i < PLACES; i++) places[i].used = false;
  set_in_use(0);
}
