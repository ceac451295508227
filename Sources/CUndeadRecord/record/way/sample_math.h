// The two functions of a sample, without libm: a preloaded library must not need it.
#pragma once
#include "platform/memory/spread.h"
#include "platform/processor/processor.h"
#include <stdint.h>

#define UNDEAD_LN_2 0.693147180559945309

// xorshift64*: good enough to choose bytes, and 64 bits of state.
static inline uint64_t undead_random_next(uint64_t *state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * 0x2545F4914F6CDD1Dull;
}

// For the calling thread; never 0.
static inline uint64_t undead_random_seed(const void *thread) {
  uint64_t seed = ((uintptr_t)thread ^ undead_spread(undead_ticks())) * 0xBF58476D1CE4E5B9ull;
  return (seed ^ seed >> 31) | 1;
}

// -ln(u) of a uniform u in (0, 1], from its 64 random bits: exponential with mean 1.
static inline double undead_exponential(uint64_t bits) {
  bits |= 1;
  uint32_t zeros = (uint32_t)__builtin_clzll(bits);
  double m = (double)(bits << zeros >> 11) / (double)(1ull << 52);   // in [1, 2)
  // ln(m) = 2 artanh((m - 1) / (m + 1)); the first term left out is below 1e-9.
  double t = (m - 1) / (m + 1), square = t * t, sum = 0;
  for (int power = 15; power > 0; power -= 2) sum = sum * square + 1.0 / power;
  return (zeros + 1) * UNDEAD_LN_2 - 2 * t * sum;
}

// 1 - exp(-x) for x >= 0, to full relative precision where x is small.
static inline double undead_chance(double x) {
  if (x > 40) return 1;
  int halvings = 0;
  for (; x > 0.125; x /= 2) halvings++;
  double sum = 0;
  for (int term = 9; term > 0; term--) sum = (1 - sum) * x / term;   // x - x^2/2 + x^3/6 - ...
  for (; halvings > 0; halvings--) sum *= 2 - sum;
  return sum;
}
