#include "zombies/reports/report.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/gate.h"
#include "runtime/abi.h"
#include "unwind/backtrace.h"
#include "unwind/settings.h"
#include "zombies/classes/metadata.h"
#include "zombies/reports/sites.h"
#include "zombies/shared/state.h"
#include "zombies/shared/threads.h"
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_ASYNC_DEPTH = 64, FRAMES = UNDEAD_DEPTH_LIMIT + MAX_ASYNC_DEPTH };

// What one report needs, in memory of its own: stacks of signals are small.
typedef struct {
  undead_zombie zombie;
  undead_dead dead;
  const char *note;
  uint64_t now;          // CLOCK_MONOTONIC_COARSE, at the use
  char owner_field[512];   // "App.Response.request", "element 3", "it has 64 bytes"
  char thread_name[UNDEAD_THREAD_NAME_BYTES], death_thread_name[UNDEAD_THREAD_NAME_BYTES];
  uintptr_t allocation[FRAMES], deallocation[FRAMES], access[FRAMES];
} report;

static bool are_words_readable(const uintptr_t *words) {
  return ((uintptr_t)words & 7) == 0 && undead_pages_are_readable((uintptr_t)words, 2 * sizeof *words);
}

// The functions that wait for an async method, and for each other: where they will go on.
static uint32_t async_frames(const uintptr_t *context, uintptr_t *frames) {
  uint32_t count = 0;
  while (count < MAX_ASYNC_DEPTH && are_words_readable(context) && context[ABI_ASYNC_CONTEXT_RESUME / 8]) {
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
  undead_hook_enter();
  uint32_t id = undead_backtrace_capture(use->pc, use->sp, use->bp);
  undead_hook_leave();
  uint32_t found = undead_backtrace_frames(id, r->access + count, FRAMES - count);
  if (!found && use->pc) r->access[count + found++] = use->pc;
  r->zombie.access = r->access;
  r->zombie.access_count = count + found;
}

static bool find_dead(const undead_zombie_use *use, report *r) {
  r->note = "";
  if (use->dead) {
    r->dead = *use->dead;
    return true;
  }
  if (!use->object) {
    // The type of which object it was does not show.
    r->note = "of several dead objects of the type, the one that died last is shown";
    return use->class && undead_quarantine_find_newest(use->class, &r->dead);
  }
  if (undead_quarantine_find(use->object, &r->dead)) return true;
  if (!undead_quarantine_find_gone(use->object, &r->dead) || (use->class && r->dead.class != use->class)) return false;
  r->zombie.flags |= UNDEAD_ZOMBIE_IS_EVICTED;
  return true;
}

static void add_death(report *r) {
  const undead_dead *dead = &r->dead;
  // Of the clock that the death was noted by: within one tick of it they are at the same time.
  uint64_t since = r->now - dead->death;
  if (dead->death) r->zombie.death_time = r->zombie.access_time - since;
  undead_thread_at(dead->thread, &r->zombie.death_thread, r->death_thread_name);
  r->zombie.allocation_count = undead_backtrace_frames(dead->allocation, r->allocation, FRAMES);
  r->zombie.deallocation_count = undead_backtrace_frames(dead->deallocation, r->deallocation, FRAMES);
}

static void add_owner(report *r, const undead_zombie_use *use) {
  const undead_zombie_class *owner = undead_zombie_class_of(use->owner);
  int length = owner ? snprintf(r->owner_field, sizeof r->owner_field, "%s.%s", owner->name, use->owner_field) : 0;
  if (length > 0 && (size_t)length < sizeof r->owner_field) r->zombie.field = r->owner_field;
}

// A field by its name, an element of an array and a byte of a string by its number.
static void add_part(report *r, const undead_zombie_class *class, uint32_t offset) {
  uint64_t number;
  r->zombie.field = undead_metadata_field(class->original, offset);
  bool is_byte = undead_metadata_byte(class->original, offset, &number);
  if (!is_byte && !undead_metadata_element(class->original, offset, &number)) return;
  snprintf(r->owner_field, sizeof r->owner_field, "%s %llu", is_byte ? "byte" : "element", (unsigned long long)number);
  r->zombie.field = r->owner_field;
}

static void add_size(report *r) {
  snprintf(r->owner_field, sizeof r->owner_field, "it has %zu bytes", r->dead.size);
  r->note = r->owner_field;
}

static void fill_in(report *r, const undead_zombie_use *use, uint64_t count) {
  undead_zombie *zombie = &r->zombie;
  r->now = undead_nanoseconds(CLOCK_MONOTONIC_COARSE);
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
      .access_time = undead_nanoseconds(CLOCK_REALTIME),
      .count = count,
      .allocation = r->allocation,
      .deallocation = r->deallocation,
  };
  prctl(PR_GET_NAME, r->thread_name);
  if (find_dead(use, r)) {
    add_death(r);
    if (!use->class && r->dead.class) zombie->type = r->dead.class->name;
  }
  const undead_zombie_class *class = use->class ? use->class : r->dead.class;
  if (use->kind == UNDEAD_ZOMBIE_OVERFLOW) add_size(r);
  else if (class && !class->is_context && !class->is_error && use->field_offset != UNDEAD_ZOMBIE_NO_FIELD)
    add_part(r, class, use->field_offset);
  if (use->owner) add_owner(r, use);
  add_access(r, use);
}

struct undead_zombie_finding {
  undead_zombie_finding *next;   // that came before it
  undead_zombie_use use;
  report report;
};

undead_zombie_finding *undead_zombie_finding_make(const undead_zombie_use *use, uint64_t count) {
  undead_zombie_finding *made = undead_map(sizeof *made);
  if (!made) return NULL;
  made->use = *use;
  made->use.dead = NULL;
  fill_in(&made->report, use, count);
  undead_site_log(use, &made->report.zombie, made->report.note);
  return made;
}

// Findings that nobody was told of yet, the last one first, and how many were put there.
static undead_zombie_finding *pending;
static uint32_t arrivals;

static void put_off(undead_zombie_finding *made) {
  made->next = __atomic_load_n(&pending, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n(&pending, &made->next, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {}
  __atomic_add_fetch(&arrivals, 1, __ATOMIC_ACQ_REL);
  syscall(SYS_futex, &arrivals, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void undead_zombie_finding_deliver(undead_zombie_finding *made, bool in_signal) {
  undead_zombie_handler handler = __atomic_load_n(&undead_zombies.handler, __ATOMIC_ACQUIRE);
  if (handler && in_signal && undead_zombies.sample) {
    put_off(made);
    return;
  }
  if (handler && !in_signal) handler(&made->report.zombie, undead_zombies.context);
  undead_zombie_finding_drop(made);
}

static void deliver_in_order(undead_zombie_finding *last) {
  if (!last) return;
  deliver_in_order(last->next);
  undead_zombie_finding_deliver(last, false);
}

void undead_zombies_wait(uint32_t milliseconds) {
  uint32_t seen = __atomic_load_n(&arrivals, __ATOMIC_ACQUIRE);
  deliver_in_order(__atomic_exchange_n(&pending, NULL, __ATOMIC_ACQ_REL));
  struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000l};
  int saved = errno;
  syscall(SYS_futex, &arrivals, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
  errno = saved;
  deliver_in_order(__atomic_exchange_n(&pending, NULL, __ATOMIC_ACQ_REL));
}

void undead_zombie_finding_drop(undead_zombie_finding *made) { undead_unmap(made, sizeof *made); }
