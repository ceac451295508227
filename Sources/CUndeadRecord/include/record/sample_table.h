// Live sampled blocks by address. All under the lock of samples, but for undead_sample_id.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  uintptr_t block;       // 0: free
  uint32_t stack;        // sample_stacks.h
  uint32_t id;           // of its backtrace in the store, 0 before undead_sample_prepare
  uint32_t mean;         // that it was sampled with, in bytes
  uint32_t generation;   // in which it was born
} undead_sample;

// False if there is no memory, or `most` samples are in it.
bool undead_samples_add(const undead_sample *sample, uint32_t most);
// Takes it out, if it is there.
bool undead_samples_remove(uintptr_t block, undead_sample *removed);
const undead_sample *undead_samples_find(uintptr_t block);
undead_sample *undead_samples_next(const undead_sample *after);   // NULL: the first; NULL behind the last
uint32_t undead_samples_count(void);
uint64_t undead_samples_bytes(void);
void undead_samples_forget_all(void);

// The id of a sampled block's backtrace, 0 if there is none. Only while nobody allocates.
uint32_t undead_sample_id(uintptr_t block);

#pragma GCC visibility pop
