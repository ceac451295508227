// Memory that the program has locked with a protection key may be read in the helper: the keys' register is each thread's own.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include <cpuid.h>

static inline void undead_unlock_keys(void) {
  uint32_t a, b, c, d;
  bool has_keys = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 4 & 1);   // OSPKE
  if (has_keys) __asm__ volatile("wrpkru" : : "a"(0), "c"(0), "d"(0) : "memory");
}
