// Incremental capture: what a thread found the last time is reused as far as the stack still holds it.
#pragma once
#include "unwind/walk_x86_64.h"
#include <stdbool.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_CACHED_FRAMES 1024u   // frames that a thread's cache holds

// One frame of the cached chain, 0 being the outermost.
typedef struct {
  undead_frame frame;
  uintptr_t bp_mask;      // all ones if an outer rule depends on this rbp, else 0
  uint32_t pc_index;
  uint32_t node;          // in the store, for the chain up to this frame
  uint32_t first_check;   // the words that led to this frame; those of all outer frames come before
} undead_cached_frame;

// A word on the stack that has to hold this value for the outer frames to be what they were.
typedef struct {
  const uintptr_t *slot;
  uintptr_t value;
} undead_check;

typedef struct {
  undead_frame frame;
  const uintptr_t *bp_slot;   // where `frame.bp` was read, NULL if the inner frame had it in the register too
  undead_rule rule;
  uint32_t pc_index;
} undead_fresh_frame;

typedef struct {
  volatile uint32_t busy;   // a capture is under way: one in a signal handler must not touch the cache
  uint32_t count;
  uint32_t check_count;
  uint32_t epoch;           // of the unwind rules
  bool cut;                 // frame 0 is not the outermost of the stack
  undead_cached_frame frames[UNDEAD_CACHED_FRAMES + 1];
  undead_check checks[2 * UNDEAD_CACHED_FRAMES];
  union {
    undead_fresh_frame fresh[UNDEAD_CACHED_FRAMES];
    uint32_t indices[UNDEAD_CACHED_FRAMES];       // scratch of a walk without the cache
    uintptr_t addresses[UNDEAD_CACHED_FRAMES];    // scratch of libunwind
  };
} undead_unwind_cache;

// The id of the stack at `frame`, or 0 if the rules of this stack do not allow the use of the cache, or the store is
// full. The stack has to be the thread's own (undead_stack_covers).
uint32_t undead_capture_cached(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame);

#pragma GCC visibility pop
