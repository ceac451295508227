#define _GNU_SOURCE
#include "zombies/report.h"
#include "platform/memory.h"
#include "record/mode.h"
#include "record/thread.h"
#include "runtime/abi.h"
#include "unwind/backtrace.h"
#include "zombies/log.h"
#include "zombies/metadata.h"
#include "zombies/state.h"
#include "zombies/threads.h"
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SITES = 2048, MAX_ASYNC_DEPTH = 64, FRAMES = UNDEAD_DEPTH_LIMIT + MAX_ASYNC_DEPTH };

// A place in the program where dead objects of a type are used in one way.
typedef struct {
  uintptr_t pc;                        // 0: free
  const undead_zombie_class *class;
  uint32_t kind;
  uint64_t count;
  uint64_t *logged;                    // its count in the log, NULL if it is not there
} site;

// What one report needs, in memory of its own: stacks of signals are small.
typedef struct {
  undead_zombie zombie;
  undead_dead dead;
  char thread_name[UNDEAD_THREAD_NAME_BYTES], death_thread_name[UNDEAD_THREAD_NAME_BYTES];
  uintptr_t allocation[FRAMES], deallocation[FRAMES], access[FRAMES];
} report;

static undead_bounded_lock lock;
static site *sites;
static uint32_t sites_used;
static int32_t sites_pid;

// Called with the lock. NULL if there is no room for one more.
static site *find_site(const undead_zombie_use *use) {
  if (!sites && !(sites = undead_map(SITES * sizeof *sites))) return NULL;
  if (sites_pid != getpid()) {
    // In a forked child nothing is in the log yet.
    for (uint32_t i = 0; i < SITES; i++) sites[i] = (site){0};
    sites_used = 0;
    sites_pid = getpid();
  }
  uintptr_t key = use->pc ^ (uintptr_t)use->class ^ (uintptr_t)use->kind << 4;
  for (uint32_t i = (uint32_t)(key * 0x9E3779B97F4A7C15ull >> 53);; i++) {
    site *at = &sites[i & (SITES - 1)];
    if (at->pc == use->pc && at->class == use->class && at->kind == use->kind) return at;
    if (at->pc) continue;
    if (sites_used == SITES * 3 / 4) return NULL;
    sites_used++;
    *at = (site){.pc = use->pc, .class = use->class, .kind = use->kind};
    return at;
  }
}

// Counts the use. True if it is to be reported.
static bool count_use(const undead_zombie_use *use, uint64_t *count) {
  undead_count(&undead_zombie_counts.zombies);
  if (!undead_lock_take(&lock)) return false;
  site *at = find_site(use);
  uint32_t limit = undead_zombies.repeats;
  bool wanted = at && (limit == 0 || at->count < limit);
  if (at) {
    *count = ++at->count;
    if (at->logged) __atomic_store_n(at->logged, at->count, __ATOMIC_RELAXED);
  } else {
    undead_count(&undead_zombie_counts.lost_reports);
  }
  undead_lock_release(&lock);
  return wanted;
}

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_readable(const uintptr_t *words) {
  return ((uintptr_t)words & 7) == 0 && words && undead_page_is_readable((uintptr_t)words) &&
         undead_page_is_readable((uintptr_t)(words + 1));
}

// The functions that wait for an async method, and for each other: where they will go on.
static uint32_t async_frames(const uintptr_t *context, uintptr_t *frames) {
  uint32_t count = 0;
  while (count < MAX_ASYNC_DEPTH && is_readable(context) && context[ABI_ASYNC_CONTEXT_RESUME / 8]) {
    // Addresses here are return addresses, which are looked up at the byte before.
    frames[count++] = context[ABI_ASYNC_CONTEXT_RESUME / 8] + 1;
    const uintptr_t *parent = (const uintptr_t *)context[ABI_ASYNC_CONTEXT_PARENT / 8];
    if (parent == context) break;
    context = parent;
  }
  return count;
}

static void add_access(report *r, const undead_zombie_use *use) {
  uint32_t count = use->async_context ? async_frames(use->async_context, r->access) : 0;
  undead_thread.in_hook++;
  uint32_t id = undead_backtrace_capture(use->pc, use->sp, use->bp);
  undead_thread.in_hook--;
  uint32_t found = undead_backtrace_frames(id, r->access + count, FRAMES - count);
  if (!found && use->pc) r->access[count + found++] = use->pc;
  r->zombie.access = r->access;
  r->zombie.access_count = count + found;
}

static bool find_dead(const undead_zombie_use *use, report *r) {
  if (use->dead) r->dead = *use->dead;
  else if (!use->object) return false;
  else if (undead_quarantine_find(use->object, &r->dead)) return true;
  else if (!undead_quarantine_find_gone(use->object, &r->dead) || (use->class && r->dead.class != use->class)) return false;
  else r->zombie.flags |= UNDEAD_ZOMBIE_IS_EVICTED;
  return true;
}

static void add_death(report *r) {
  const undead_dead *dead = &r->dead;
  uint64_t since = nanoseconds(CLOCK_MONOTONIC) - dead->death;
  if (dead->death) r->zombie.death_time = r->zombie.access_time - since;
  undead_thread_at(dead->thread, &r->zombie.death_thread, r->death_thread_name);
  r->zombie.allocation_count = undead_backtrace_frames(dead->allocation, r->allocation, FRAMES);
  r->zombie.deallocation_count = undead_backtrace_frames(dead->deallocation, r->deallocation, FRAMES);
}

static void fill_in(report *r, const undead_zombie_use *use, uint64_t count) {
  undead_zombie *zombie = &r->zombie;
  *zombie = (undead_zombie){
      .kind = use->kind,
      .flags = use->flags,
      .accessor = use->accessor,
      .field_offset = use->field_offset,
      .object = use->object,
      .implementation = use->implementation,
      .type = use->class ? use->class->name : use->type ? use->type : "",
      .field = "",
      .thread = (int32_t)syscall(SYS_gettid),
      .thread_name = r->thread_name,
      .death_thread_name = r->death_thread_name,
      .access_time = nanoseconds(CLOCK_REALTIME),
      .count = count,
      .allocation = r->allocation,
      .deallocation = r->deallocation,
  };
  prctl(PR_GET_NAME, r->thread_name);
  if (find_dead(use, r)) {
    add_death(r);
    if (!use->class) zombie->type = r->dead.class->name;
  }
  const undead_zombie_class *class = use->class ? use->class : r->dead.class;
  if (class && !class->is_context && use->field_offset != UNDEAD_ZOMBIE_NO_FIELD)
    zombie->field = undead_metadata_field(class->original, use->field_offset);
  add_access(r, use);
}

static void log_report(report *r, const undead_zombie_use *use) {
  if (!undead_lock_take(&lock)) {
    undead_count(&undead_zombie_counts.lost_reports);
    return;
  }
  site *at = find_site(use);
  // Two threads may have come here with the same place.
  if (at && at->logged) __atomic_store_n(at->logged, at->count, __ATOMIC_RELAXED);
  else if (at) at->logged = undead_zombie_log_add(&r->zombie, "");
  undead_zombie_counters counters;
  undead_zombies_read_counters(&counters);
  undead_zombie_log_counters(&counters);
  undead_lock_release(&lock);
}

void undead_zombie_used(const undead_zombie_use *use, bool in_signal) {
  undead_zombie_thread *self = &undead_zombie_self;
  // A zombie in our own code, or in that of a handler which reports one, is not the program's.
  if (self->inside) return;
  int saved = errno;
  self->inside++;
  uint64_t count = 0;
  undead_zombie_handler handler = NULL;
  report *r = count_use(use, &count) ? undead_map(sizeof *r) : NULL;
  if (r) {
    undead_count(&undead_zombie_counts.reports);
    fill_in(r, use, count);
    log_report(r, use);
    handler = in_signal ? NULL : __atomic_load_n(&undead_zombies.handler, __ATOMIC_ACQUIRE);
    if (handler) handler(&r->zombie, undead_zombies.context);
    undead_unmap(r, sizeof *r);
  }
  self->inside--;
  errno = saved;
}
