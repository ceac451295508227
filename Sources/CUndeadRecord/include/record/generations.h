// Generations: a mark begins one, and each block shows in which it was born by the id of its backtrace.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_GENERATION_LIMIT 4095u      // marks in the life of a process
#define UNDEAD_GENERATION_NAME_BYTES 112u   // with the terminating zero; longer names are cut off

typedef struct {
  uint32_t number;         // from 1; generation 0, before the first mark, has no entry
  const char *name;        // valid as long as the process lives
  uint64_t nanoseconds;    // when it began, since 1970
} undead_generation;

// Begins a generation and returns its number: what the calling thread, or one that hears of it, allocates from now on
// belongs to it. 0 if there were too many, or the store of backtraces is half full. Lock-free and async-signal-safe.
uint32_t undead_generation_mark(const char *name);

// The number of the newest generation, 0 before the first mark.
uint32_t undead_generation_newest(void);

// The mark with this number; false if there is none (yet).
bool undead_generation_get(uint32_t number, undead_generation *generation);

// In which generation the backtrace was taken: that of a block says when the block was born, or last resized.
uint32_t undead_generation_of_backtrace(uint32_t backtrace);

#pragma GCC visibility pop
