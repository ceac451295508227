#include "zombies/reports/sites.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"
#include "zombies/reports/log.h"
#include "zombies/shared/state.h"
#include <unistd.h>

enum { SITES = 2048 };

typedef struct {
  uintptr_t pc;                        // 0: free
  const undead_zombie_class *class;
  uint32_t kind;
  uint64_t count;
  undead_log_entry logged;
} site;

static undead_bounded_lock lock;
static site *sites;
static uint32_t sites_used;
static int32_t sites_pid;

static bool prepare(void) {
  if (!sites && !(sites = undead_map(SITES * sizeof *sites))) return false;
  if (sites_pid == getpid()) return true;
  // In a forked child nothing is in the log yet.
  for (uint32_t i = 0; i < SITES; i++) sites[i] = (site){0};
  sites_used = 0;
  sites_pid = getpid();
  return true;
}

// Called with the lock. NULL if there is no room for one more.
static site *find_site(const undead_zombie_use *use) {
  if (!prepare()) return NULL;
  uintptr_t key = use->pc ^ (uintptr_t)use->class ^ (uintptr_t)use->kind << 4;
  for (uint32_t i = (uint32_t)(undead_spread(key) >> 53);; i++) {
    site *at = &sites[i & (SITES - 1)];
    if (at->pc == use->pc && at->class == use->class && at->kind == use->kind) return at;
    if (at->pc) continue;
    if (sites_used == SITES * 3 / 4) return NULL;
    sites_used++;
    *at = (site){.pc = use->pc, .class = use->class, .kind = use->kind};
    return at;
  }
}

static bool is_wanted_site(const site *at) { return undead_zombies.repeats == 0 || at->count < undead_zombies.repeats; }

bool undead_site_is_wanted(const undead_zombie_use *use) {
  if (!undead_lock_take(&lock)) return false;
  const site *at = find_site(use);
  bool wanted = at && is_wanted_site(at);
  undead_lock_release(&lock);
  return wanted;
}

bool undead_site_count(const undead_zombie_use *use, uint64_t *count) {
  undead_count(&undead_zombie_counts.zombies);
  if (!undead_lock_take(&lock)) return false;
  site *at = find_site(use);
  bool wanted = at && is_wanted_site(at);
  if (at) {
    *count = ++at->count;
    undead_zombie_log_count(at->logged, at->count);
  } else {
    undead_count(&undead_zombie_counts.lost_reports);
  }
  undead_lock_release(&lock);
  return wanted;
}

void undead_site_log(const undead_zombie_use *use, const undead_zombie *zombie, const char *note) {
  if (!undead_lock_take(&lock)) {
    undead_count(&undead_zombie_counts.lost_reports);
    return;
  }
  site *at = find_site(use);
  // Two threads may have come here with the same place.
  if (at && at->logged) undead_zombie_log_count(at->logged, at->count);
  else if (at) at->logged = undead_zombie_log_add(zombie, note);
  undead_zombie_counters counters;
  undead_zombies_read_counters(&counters);
  undead_zombie_log_counters(&counters);
  undead_lock_release(&lock);
}

void undead_site_forget(const undead_zombie_use *use) {
  if (!undead_lock_take(&lock)) return;
  site *at = find_site(use);
  if (at && at->count == 0 && at->logged) {
    undead_zombie_log_void(at->logged);
    at->logged = 0;
  }
  undead_lock_release(&lock);
}
