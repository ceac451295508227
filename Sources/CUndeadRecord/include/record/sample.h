// A sample of the allocations, with their backtraces: each byte that is allocated is chosen with the same small
// probability, so a block of s bytes with 1 - exp(-s / mean). Gaps between chosen bytes are exponential; each thread
// counts its own down, and that is all that most allocations cost.
#pragma once
#include "record/mode.h"
#include "unwind/settings.h"
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_SAMPLE_DEFAULT (512u << 10)
#define UNDEAD_SAMPLE_LARGEST (1u << 30)   // mean
#define UNDEAD_STORE_DEFAULT (8u << 20)    // bytes
#define UNDEAD_STORE_LEAST (64u << 10)

// The settings, to be made before sampling begins: the mean distance of samples in bytes (0: no sampling), and the bytes
// that samples and their backtraces may take up.
void undead_sample_set(uint64_t mean, uint64_t store_bytes);
bool undead_sample_wanted(void);
// The same by UNDEAD_SAMPLE and UNDEAD_STORE_BYTES in the environment, unless the settings were made.
void undead_sample_read_settings(void);
// A number of bytes, such as 4096, 512KiB, 2MiB; 0 if the text is none.
uint64_t undead_sample_parse(const char *text);

typedef struct {
  uint64_t mean, least, most;       // bytes: now, and what it was between
  uint64_t samples;                 // taken since the start
  uint64_t live;                    // of blocks that are alive
  uint64_t dropped;                 // for lack of room, and not counted in `samples`
  uint64_t dropped_stacks;          // thrown away with an epoch
  uint64_t nanoseconds;             // of the processors, spent in sampling
  uint64_t store_bytes;             // in use
} undead_sample_statistics;
undead_sample_statistics undead_sample_read(void);

// What happened at one backtrace since the start, freed blocks too.
typedef struct {
  uint64_t samples, sampled_bytes;
  double objects, bytes;            // estimates
  uint32_t count;                   // frames; 0: of all backtraces that were thrown away
  uintptr_t frames[UNDEAD_DEPTH_LIMIT];
} undead_sample_allocations;
// The entry with this number, from 0: false if it is not in use. `*end` is behind the last one.
bool undead_sample_allocations_at(uint32_t number, undead_sample_allocations *allocations, uint32_t *end);

// Brings the backtraces of live samples into the store of backtraces, where a scan looks for them.
void undead_sample_prepare(void);

// The mean that a backtrace of the store was sampled with, in bytes; 0 if it was not sampled.
uint32_t undead_sample_mean_of(uint32_t backtrace);

// Frames of the sampled allocation of `block`, innermost first; 0 if it was not sampled.
uint32_t undead_sample_frames(uintptr_t block, uintptr_t *frames, uint32_t max);

// Forgets all samples and backtraces, but not the settings. Not while a thread is in a hook.
void undead_sample_forget_all(void);

// In the child of a fork.
void undead_sample_after_fork_in_child(void);

// Called by the hooks when the thread's count has run out, with the caller's registers: true if the block of `size` usable
// bytes is sampled, and its backtrace is known now.
bool undead_sample_take(uintptr_t block, size_t size, uintptr_t pc, uintptr_t sp, uintptr_t bp);
// The block is about to be freed.
void undead_sample_drop(uintptr_t block);

#pragma GCC visibility pop
