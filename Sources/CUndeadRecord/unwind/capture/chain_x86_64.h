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

#define CHECK_BLOCK 4
INLINE uintptr_t difference_of_block(const undead_check *check) {
  return (*check[0].slot ^ check[0].value) | (*check[1].slot ^ check[1].value) | (*check[2].slot ^ check[2].value) |
         (*check[3].slot ^ check[3].value);
}

// How many of the first `count` words of the chain, from the outermost frame on, are what they were.
INLINE uint32_t count_true(const undead_unwind_cache *cache, uint32_t count) {
  const undead_check *check = cache->checks, *end = check + count;
  while (end - check > CHECK_BLOCK && LIKELY(difference_of_block(check) == 0)) check += CHECK_BLOCK;
  // The last block reaches back into the one before it.
  if (LIKELY(count >= CHECK_BLOCK && end - check <= CHECK_BLOCK) && difference_of_block(end - CHECK_BLOCK) == 0) return count;
  while (check < end && *check->slot == check->value) check++;
  return (uint32_t)(check - cache->checks);
}

#pragma GCC visibility pop
