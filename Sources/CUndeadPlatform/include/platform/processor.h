// What depends on the processor, and is short. processor_x86_64.h and processor_arm64.h define the same names; registers of
// stopped and interrupted threads are in registers.h. Longer parts are files of their own: Documentation/platforms.md has a list.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if !defined(__linux__)
#error "stopping the world is implemented for Linux only"
#elif defined(__x86_64__)
#include "platform/processor_x86_64.h"
#elif defined(__aarch64__)
#include "platform/processor_arm64.h"
#else
#error "nothing is known of this processor"
#endif

// System calls without libc: no errno, no cancellation point. For the helper, its copies and signal handlers.
static inline long undead_raw4(long number, long a, long b, long c, long d) {
  return undead_raw6(number, a, b, c, d, 0, 0);
}

static inline long undead_raw3(long number, long a, long b, long c) { return undead_raw6(number, a, b, c, 0, 0, 0); }

// True if a system call is made at `code`, or was made right before.
static inline bool undead_is_beside_system_call(const uint8_t *code) {
  return undead_is_system_call(code - UNDEAD_SYSTEM_CALL_BYTES) || undead_is_system_call(code);
}
