// The innermost frames of a capture, from the allocator's caller on: the same few again and again, so they are
// recognised as a whole instead of being walked.
#pragma once
#include "unwind/capture/known_x86_64.h"

#pragma GCC visibility push(hidden)

// Walks the innermost frames one by one and remembers them. `frame` becomes the outermost of them. NULL for stacks that
// have no more frames, or cannot be captured here; `id` is then the result.
const undead_known_site *undead_site_learn(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame *frame,
                                           bool from_loader, uint32_t *id);

INLINE undead_known_pair *pairs_of(undead_unwind_cache *cache, uintptr_t pc) {
  return cache->pairs[near_hash(pc) & (UNDEAD_KNOWN_PAIR_SETS - 1)];
}

INLINE undead_known_site *site_of(undead_unwind_cache *cache, uintptr_t inner_pc, uintptr_t outer_pc) {
  return &cache->sites[near_hash(inner_pc * 3 ^ outer_pc) & (UNDEAD_KNOWN_SITES - 1)];
}

INLINE bool pair_holds(const undead_known_pair *pair, uintptr_t stack_high, const undead_frame *frame) {
  uintptr_t sp = frame->sp;
  if (UNLIKELY(pair->pc[0] != frame->pc) || UNLIKELY(stack_high - sp < pair->span)) return false;
  if (*(const uintptr_t *)(sp + pair->pc_slot) != pair->pc[1]) return false;
  uintptr_t outer_bp = *(const uintptr_t *)(sp + pair->outer_bp_slot);
  uintptr_t difference = ((frame->bp - sp - pair->bp_distance) & pair->bp_mask) |
                         ((outer_bp - sp - pair->outer_bp_distance) & pair->outer_bp_mask);
  return LIKELY(difference == 0);
}

// The innermost frames, if they are known and lie as they did before; `frame` becomes the outermost of them.
INLINE const undead_known_site *match_site(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame *frame) {
  const undead_known_pair *pair = pairs_of(cache, frame->pc), *end = pair + UNDEAD_KNOWN_PAIRS;
  uintptr_t sp = frame->sp;
  while (!pair_holds(pair, stack_high, frame))
    if (++pair == end) return NULL;
  frame->sp = sp + pair->span;
  frame->pc = ((const uintptr_t *)frame->sp)[-1];
  if (LIKELY(pair->bp_slot != UNDEAD_NO_SLOT)) frame->bp = *(const uintptr_t *)(sp + pair->bp_slot);
  const undead_known_site *site = site_of(cache, pair->pc[1], frame->pc);
  bool same = site->pc[2] == frame->pc && site->pc[1] == pair->pc[1] && site->pc[0] == pair->pc[0];
  return LIKELY(same) ? site : NULL;
}

#pragma GCC visibility pop
