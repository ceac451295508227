// Time and short pauses by raw system calls.
#pragma once
#include "platform/processor/processor.h"
#include <time.h>

static inline uint64_t undead_time_of(clockid_t clock) {
  struct timespec time = {0, 0};
  undead_raw3(SYS_clock_gettime, clock, (long)&time, 0);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Nanoseconds since the system started, seconds of the same, nanoseconds since 1970.
static inline uint64_t undead_now(void) { return undead_time_of(CLOCK_MONOTONIC); }
static inline int64_t undead_seconds_now(void) { return (int64_t)(undead_now() / 1000000000u); }
static inline uint64_t undead_wall_time(void) { return undead_time_of(CLOCK_REALTIME); }

static inline void undead_pause(uint64_t nanoseconds) {
  struct timespec time = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  undead_raw3(SYS_nanosleep, (long)&time, 0, 0);
}
