#include "zombies/reports/waiting.h"
#include "platform/memory/own_data.h"
#include "zombies/functions/functions.h"
#include "zombies/reports/sites.h"
#include "zombies/shared/state.h"
#include "zombies/shared/threads.h"
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLACES = 64, PATIENCE = 16, PATIENCE_WHEN_BALANCED = 4 };

// At most one for each thread and object; of those of a thread at most one is not explained.
typedef struct {
  bool used;
  bool explained;          // another use has said it all: only its releases are still to come
  int32_t thread;
  uint32_t retains;        // that have had no release yet
  uint32_t patience;       // retains and releases of others until it is reported
  undead_zombie_use use;
  undead_zombie_finding *finding;   // NULL: the place has been reported often enough, or it is explained
} waiting;

static undead_bounded_lock waiting_lock;
static waiting places[PLACES];
static uint32_t in_use;   // that are not explained

// Every retain and release is looked at while somebody waits.
static void set_in_use(uint32_t count) {
  if ((in_use == 0) != (count == 0)) undead_swift_functions_watch_closely(count != 0);
  in_use = count;
}

static int32_t own_thread(void) { return (int32_t)syscall(SYS_gettid); }

// Called with the lock, as all that follow until happened().
static waiting *find_waiting(int32_t thread, uintptr_t object) {
  for (uint32_t i = 0; i < PLACES; i++)
    if (places[i].used && places[i].thread == thread && places[i].use.object == object) return &places[i];
  return NULL;
}

static waiting *find_unexplained(int32_t thread) {
  if (!in_use) return NULL;
  for (uint32_t i = 0; i < PLACES; i++)
    if (places[i].used && !places[i].explained && places[i].thread == thread) return &places[i];
  return NULL;
}

// What is returned is the caller's.
static waiting take(waiting *at) {
  waiting taken = *at;
  at->used = false;
  if (!taken.explained) set_in_use(in_use - 1);
  return taken;
}

static void deliver(waiting *taken, bool in_signal) {
  uint64_t count;
  undead_site_count(&taken->use, &count);
  if (!taken->finding) return;
  undead_count(&undead_zombie_counts.reports);
  undead_zombie_finding_deliver(taken->finding, in_signal);
}

// A free place, or one that has nothing to report any more; NULL if there is none.
static waiting *find_room(void) {
  waiting *room = NULL;
  for (uint32_t i = 0; i < PLACES; i++) {
    if (!places[i].used) return &places[i];
    if (places[i].explained) room = &places[i];
  }
  return room;
}

// False if all places are taken.
static bool wait_for_more(const undead_zombie_use *use) {
  waiting *at = find_room();
  if (!at) return false;
  *at = (waiting){.used = true, .thread = own_thread(), .retains = 1, .patience = PATIENCE, .use = *use};
  set_in_use(in_use + 1);
  if (undead_site_is_wanted(use)) at->finding = undead_zombie_finding_make(use, 1);
  return true;
}

typedef enum { RETAIN, RELEASE, OTHERS } event;

static void count_release(waiting *own) {
  own->retains--;
  if (own->retains) return;
  if (own->explained) take(own);
  else own->patience = PATIENCE_WHEN_BALANCED;
}

// What an event of this thread means to what waits: true if it is explained by it. `*due` is to be reported.
static bool look_at_event(event event, const undead_zombie_use *use, waiting *due, bool *is_due) {
  int32_t thread = own_thread();
  waiting *same = use ? find_waiting(thread, use->object) : NULL, *other = find_unexplained(thread);
  *is_due = false;
  if (same && event == RETAIN) {
    same->retains++;
    return true;
  }
  if (same && same->retains) {
    count_release(same);
    return true;
  }
  if (other && other != same && (event != OTHERS || --other->patience == 0)) {
    *due = take(other);
    *is_due = true;
  }
  return event == RETAIN && wait_for_more(use);
}

// A use of the object says it all: what waited for it is void, and releases that belong to it are no news.
static void explain(uintptr_t object) {
  if (!in_use || !object) return;
  for (uint32_t i = 0; i < PLACES; i++) {
    waiting void_one = {0};
    if (!places[i].used || places[i].use.object != object || !undead_lock_take(&waiting_lock)) continue;
    if (places[i].used && !places[i].explained && places[i].use.object == object) {
      void_one = take(&places[i]);
      places[i].used = places[i].retains > 0;
      places[i].explained = true;
      places[i].finding = NULL;
    }
    undead_lock_release(&waiting_lock);
    if (!void_one.finding) continue;
    undead_site_forget(&void_one.use);
    undead_zombie_finding_drop(void_one.finding);
  }
}

void undead_zombie_used(const undead_zombie_use *use, bool in_signal) {
  int saved = errno;
  // A zombie in our own code, or in that of a handler which reports one, is not the program's.
  if (!undead_zombie_enter()) return;
  uint64_t count = 0;
  explain(use->object);
  bool wanted = undead_site_count(use, &count);
  if (wanted) undead_count(&undead_zombie_counts.reports);
  undead_zombie_finding *made = wanted ? undead_zombie_finding_make(use, count) : NULL;
  if (made) undead_zombie_finding_deliver(made, in_signal);
  undead_zombie_leave();
  errno = saved;
}

static bool happened(event event, const undead_zombie_use *use) {
  int saved = errno;
  waiting due;
  bool is_due = false, done = false;
  if (!undead_zombie_enter()) return false;
  if (undead_lock_take(&waiting_lock)) {
    done = look_at_event(event, use, &due, &is_due);
    undead_lock_release(&waiting_lock);
  }
  if (is_due) deliver(&due, false);
  undead_zombie_leave();
  errno = saved;
  if (!done && use) undead_zombie_used(use, false);
  return is_due || (!done && use);
}

bool undead_zombie_retained(const undead_zombie_use *use) { return happened(RETAIN, use); }
bool undead_zombie_released(const undead_zombie_use *use) { return happened(RELEASE, use); }
bool undead_zombie_waits_no_longer(void) { return in_use && happened(OTHERS, NULL); }

bool undead_zombie_settle(bool all_threads, bool in_signal) {
  int saved = errno;
  bool any = false;
  int32_t thread = own_thread();
  if (!in_use || !undead_zombie_enter()) return false;
  for (uint32_t i = 0; i < PLACES; i++) {
    waiting taken = {0};
    if (!undead_lock_take(&waiting_lock)) break;
    if (places[i].used && !places[i].explained && (all_threads || places[i].thread == thread)) taken = take(&places[i]);
    undead_lock_release(&waiting_lock);
    if (taken.used) deliver(&taken, in_signal);
    any = any || taken.used;
  }
  undead_zombie_leave();
  errno = saved;
  return any;
}

void undead_zombie_waiting_after_fork_in_child(void) {
  undead_lock_release(&waiting_lock);
  for (uint32_t i = 0; i < PLACES; i++) places[i].used = false;
  set_in_use(0);
}
