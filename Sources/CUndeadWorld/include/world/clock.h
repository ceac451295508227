// Time and short pauses by raw system calls.
#pragma once
#include "platform/processor/processor.h"
#include <time.h>

static inline uint64_t undead_now(void) {
  struct timespec time = {0, 0};
  undead_raw3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&time, 0);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void undead_pause(uint64_t nanoseconds) {
  struct timespec time = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  undead_raw3(SYS_nanosleep, (long)&time, 0, 0);
}
