// All counters of the sniffer, from the parts that keep them.
#include "undead_sniffer.h"
#include "zombies/classes/zombie_class.h"
#include "zombies/kept/guard_pages.h"
#include "zombies/kept/pool.h"
#include "zombies/kept/quarantine.h"
#include "zombies/shared/state.h"

void undead_zombies_read_counters(undead_zombie_counters *counters) {
  undead_quarantine_read_counters(counters);
  undead_guard_counters guard;
  undead_guard_read_counters(&guard);
  undead_fenced_counters pool;
  undead_fenced_read_counters(&pool);
  counters->guarded = guard.guarded + pool.chosen;
  counters->guarded_now = guard.guarded_now + pool.dead_now;
  counters->not_guarded = guard.not_guarded + pool.full;
  counters->denied = undead_zombie_counts.denied;
  counters->missed += undead_zombie_counts.missed;
  counters->types = undead_zombie_class_count();
  counters->zombies = undead_zombie_counts.zombies;
  counters->reports = undead_zombie_counts.reports;
  counters->lost_reports = undead_zombie_counts.lost_reports;
}
