// Spreads a key over the bits of a word, for tables: its high bits are the good ones (Fibonacci hashing).
#pragma once
#include <stdint.h>

static inline __attribute__((always_inline)) uint64_t undead_spread(uint64_t key) { return key * 0x9E3779B97F4A7C15ull; }
static inline __attribute__((always_inline)) uint32_t undead_spread32(uint32_t key) { return key * 0x9E3779B1u; }
