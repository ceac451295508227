// Whole stacks that were captured before, recognised by every word that led to their frames. Programs allocate in the
// same order again and again, so the stack that followed the last time is tried first.
#pragma once
#include "unwind/capture/known_x86_64.h"
#include "platform/memory/spread.h"

#pragma GCC visibility push(hidden)

// True if all the words of whole blocks are what they were; `end` is behind the last one, and there is at least one.
INLINE bool undead_blocks_hold(const undead_check *check, const undead_check *end) {
  uintptr_t difference;
  do {
    difference = difference_of_block(check);
    check += UNDEAD_CHECK_BLOCK;
  } while (LIKELY(difference == 0) && check != end);
  return LIKELY(difference == 0);
}

INLINE bool undead_memo_holds(const undead_memo *memo, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  return LIKELY(memo->sp == sp) && LIKELY(memo->pc == pc) && LIKELY(((memo->bp ^ bp) & memo->bp_mask) == 0) &&
         undead_blocks_hold(memo->checks, memo->end);
}

// The id of a stack that is the expected one, else 0.
INLINE uint32_t undead_memo_expected(undead_unwind_cache *cache, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_memo *memo = cache->expected;
  if (UNLIKELY(!memo) || !undead_memo_holds(memo, pc, sp, bp)) return 0;
  cache->memo_hits++;
  cache->followed = memo;
  cache->holds = true;
  cache->expected = memo->next;
  return memo->id;
}

// Where stacks are looked for that have this site at the start and this frame outside of it.
INLINE undead_memo **undead_memo_set(undead_unwind_cache *cache, uint32_t run, uintptr_t pc, uintptr_t sp) {
  uint64_t mixed = undead_spread(pc ^ sp * 5 ^ (uint64_t)run << 20);
  return cache->memo_sets[mixed >> 56];
}
_Static_assert(UNDEAD_MEMO_SETS == 256, "eight bits of the hash");

INLINE void undead_memo_follow(undead_unwind_cache *cache, undead_memo *memo) {
  if (cache->followed) cache->followed->next = memo;
  cache->followed = memo;
  cache->holds = true;
  cache->expected = memo->next;
}

// The same for a stack that is known but was not expected.
INLINE uint32_t undead_memo_find(undead_unwind_cache *cache, undead_memo **set, uintptr_t pc, uintptr_t sp,
                                uintptr_t bp) {
  for (uint32_t way = 0; way < UNDEAD_MEMO_WAYS; way++) {
    undead_memo *memo = set[way];
    if (!memo || !undead_memo_holds(memo, pc, sp, bp)) continue;
    cache->memo_hits++;
    undead_memo_follow(cache, memo);
    return memo->id;
  }
  return 0;
}

// Keeps a stack that was captured before, or finds it: the site's frames, which begin at `start`, lead to the frame of the chain
// where the last capture met it.
void undead_memo_consider(undead_unwind_cache *cache, uintptr_t stack_high, undead_memo **set, const undead_frame *start,
                          uint32_t id);

// For stacks that the chain cannot follow. The id of the one at `start` if it is known, else 0; the page of `place` can be read.
uint32_t undead_memo_find_walked(undead_unwind_cache *cache, uintptr_t place, const undead_frame *start);

// The same if it is the expected one, on another stack than the thread's own, which the caller runs on.
uint32_t undead_memo_expected_elsewhere(undead_unwind_cache *cache, uintptr_t pc, uintptr_t sp, uintptr_t bp);

// Where a walk is to write its words, for undead_memo_consider_walked; false if none are to be kept now.
bool undead_memo_begin_walk(undead_unwind_cache *cache, undead_walk_words *words);

// Keeps a stack that was walked before, or finds it.
void undead_memo_consider_walked(undead_unwind_cache *cache, undead_thread_state *thread, const undead_frame *start,
                                 const undead_walk_words *words, uint32_t id);

// Forgets all: they belong to one thread's stack, and to the present rules.
void undead_memo_forget(undead_unwind_cache *cache);

// The same where they are whole: in a time that depends on how many there are.
void undead_memo_leave(undead_unwind_cache *cache);

#pragma GCC visibility pop
