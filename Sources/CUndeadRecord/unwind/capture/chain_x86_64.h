// The chain of frames that a thread's cache holds (undead_cached_frame), and how it grows.
#pragma once
#include "unwind/capture/known_x86_64.h"

#pragma GCC visibility push(hidden)

#define UNDEAD_NOT_COUNTED 0xFFFFFFFFu

void undead_chain_forget(undead_unwind_cache *cache);

// Walks outwards to the first frame of the chain that is still true, and puts what is new behind it. Returns the id of what
// `leaf` stands for below the frame, 0 if that cannot be done. `true_checks`: how many words of the chain are true to the frame
// `cache->last`, or UNDEAD_NOT_COUNTED.
uint32_t undead_chain_extend(undead_unwind_cache *cache, uintptr_t stack_high, uintptr_t pc, uintptr_t sp, uintptr_t bp,
                             uint32_t leaf, uint32_t true_checks);

INLINE bool is_same(const undead_frame *known, uintptr_t bp_mask, const undead_frame *frame) {
  return known->sp == frame->sp && known->pc == frame->pc && ((known->bp ^ frame->bp) & bp_mask) == 0;
}

// How many of the first `count` words of the chain, from the outermost frame on, are what they were.
INLINE uint32_t count_true(const undead_unwind_cache *cache, uint32_t count) {
  const undead_check *check = cache->checks, *end = check + count;
  while (end - check > UNDEAD_CHECK_BLOCK && LIKELY(difference_of_block(check) == 0)) check += UNDEAD_CHECK_BLOCK;
  // The last block reaches back into the one before it.
  bool last = LIKELY(count >= UNDEAD_CHECK_BLOCK && end - check <= UNDEAD_CHECK_BLOCK);
  if (last && difference_of_block(end - UNDEAD_CHECK_BLOCK) == 0) return count;
  while (check < end && *check->slot == check->value) check++;
  return (uint32_t)(check - cache->checks);
}

#pragma GCC visibility pop
