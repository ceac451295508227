// Tables that grow in place: their addresses are reserved at once, memory behind them is taken step by step. What is only
// reserved counts neither as data of the process (RLIMIT_DATA) nor is it locked into memory (mlockall).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  uint8_t *base;
  size_t reserved;      // bytes of addresses
  size_t usable;        // bytes that may be touched; zero when they become usable
  uint32_t changing;    // threads that are making more of it usable
} undead_reserve;

// Reserves `bytes`, or as much of it as there is but at least `least`; false without. Any number of times, any thread.
bool undead_reserve_open(undead_reserve *reserve, size_t bytes, size_t least);

// Makes the first `bytes` of it usable, and some more; false if they are not reserved, or there is no memory. Lock-free.
bool undead_reserve_grow(undead_reserve *reserve, size_t bytes);

// Gives back the addresses behind the usable part and `kept` more bytes: the table will not grow beyond.
void undead_reserve_trim(undead_reserve *reserve, size_t kept);

// What is usable becomes zero again, and takes no memory.
void undead_reserve_clear(undead_reserve *reserve);

static inline size_t undead_reserve_usable(const undead_reserve *reserve) {
  return __atomic_load_n(&reserve->usable, __ATOMIC_ACQUIRE);
}

#pragma GCC visibility pop
