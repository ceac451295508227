// What the parts of the zombie sniffer share.
#pragma once
#include "undead_sniffer.h"
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

typedef struct {
  bool active;
  bool guard;
  uint32_t sample;     // sampled: one of so many; else 0
  bool dying;          // a zombie has stopped the program: faults that follow are none of ours
  uint32_t policy;     // undead_zombie_policy
  uint32_t repeats;
  undead_zombie_handler handler;
  void *context;
} undead_zombie_state;

extern undead_zombie_state undead_zombies;

// Counters of the parts that have no lock.
typedef struct {
  uint64_t denied, missed, zombies, reports, lost_reports;
} undead_zombie_tally;
extern undead_zombie_tally undead_zombie_counts;

static inline uint64_t undead_nanoseconds(clockid_t clock) {
  struct timespec time = {0};
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void undead_count(uint64_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

#pragma GCC visibility pop
