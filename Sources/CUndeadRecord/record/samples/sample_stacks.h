// The backtraces of samples within a budget: whole, each once. Those that no live sample needs are thrown away when there is
// no more room: an epoch ends. All under the lock of samples.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_NO_STACK UINT32_MAX

typedef struct {
  uint64_t hash;           // 0: not in use
  uint32_t first, count;   // frames, indices of the table of return addresses
  uint32_t live;           // samples that are alive
  uint32_t epoch;          // in which it was used last
  uint32_t id, id_mean, id_generation;   // in the store of backtraces, for samples of these; 0: none yet
  uint64_t samples, sampled_bytes;
  double objects, bytes;   // estimates
} undead_sample_stack;

// The bytes that all may take up; only before the first one.
void undead_stacks_set_budget(uint64_t bytes);

// The number of the stack, added if new; UNDEAD_NO_STACK if there is no room.
uint32_t undead_stacks_add(const uint32_t *frames, uint32_t count);
undead_sample_stack *undead_stacks_at(uint32_t number);
uint32_t undead_stacks_end(void);   // all numbers are below
const uint32_t *undead_stacks_frames(const undead_sample_stack *stack);

// What was thrown away, all in one (its `count` is how many), and the bytes in use.
const undead_sample_stack *undead_stacks_thrown_away(void);
uint64_t undead_stacks_bytes(void);
void undead_stacks_forget_ids(void);
void undead_stacks_forget_all(void);

#pragma GCC visibility pop
