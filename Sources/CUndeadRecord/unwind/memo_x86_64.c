#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#if defined(__x86_64__)
#include "unwind/memo_x86_64.h"
#include "unwind/odd_x86_64.h"
#include <string.h>

// Where few stacks are met again, looking for them is a waste: rest for a while.
#define TRIED_STACKS 256u
#define FEWEST_HITS 512u
#define RESTING_STACKS 16384u
// A frame is settled when so many others were put into the chain since; what is outside of it many stacks share.
#define SETTLED_STAMPS 256u
#define LEAST_SHARED 8u        // checks
#define MOST_CHECKS 512u

static void forget_kept(undead_unwind_cache *cache) {
  cache->expected = NULL;
  cache->followed = NULL;
  cache->last_made = NULL;
  memset(cache->bases, 0, sizeof cache->bases);
  cache->memo_bytes_used = 0;
}

void undead_memo_forget(undead_unwind_cache *cache) {
  if (cache->memo_used) {
    memset(cache->memo_places, 0, sizeof cache->memo_places);
    memset(cache->memo_sets, 0, sizeof cache->memo_sets);
  }
  cache->memo_used = 0;
  forget_kept(cache);
}

static undead_memo_place *place_of(undead_unwind_cache *cache, uint32_t id) {
  return &cache->memo_places[id * 0x9E3779B1u >> 22];
}
_Static_assert(UNDEAD_MEMO_PLACES == 1u << (32 - 22), "bits of the hash");

// The candidates stay: they are ids, which are the same for all threads.
void undead_memo_leave(undead_unwind_cache *cache) {
  for (undead_memo *memo = cache->last_made; memo; memo = memo->made_before) {
    place_of(cache, memo->id)->memo = NULL;
    memset(memo->set, 0, sizeof cache->memo_sets[0]);
  }
  forget_kept(cache);
}

static void *take(undead_unwind_cache *cache, uint32_t bytes) {
  bytes = (bytes + 15) & ~15u;
  if (cache->memo_bytes_used + bytes > UNDEAD_MEMO_BYTES) return NULL;
  void *taken = cache->memo_bytes + cache->memo_bytes_used;
  cache->memo_bytes_used += bytes;
  return taken;
}

// Fills the last block up with the first check.
static undead_check *fill_up(undead_check *first, undead_check *end) {
  while ((uint32_t)(end - first) % UNDEAD_MEMO_BLOCK != 0) *end++ = *first;
  return end;
}

// The outer part of many stacks: the first checks of the chain. NULL without room.
static const undead_memo_base *base_of(undead_unwind_cache *cache, uint32_t count) {
  uint32_t bytes = count * (uint32_t)sizeof(undead_check);
  for (uint32_t index = 0; index < UNDEAD_MEMO_BASES; index++) {
    const undead_memo_base *known = cache->bases[index];
    if (known && known->count == count && memcmp(known->checks, cache->checks, bytes) == 0) return known;
  }
  uint32_t most = bytes + UNDEAD_MEMO_BLOCK * (uint32_t)sizeof(undead_check);
  undead_memo_base *base = take(cache, (uint32_t)sizeof *base + most);
  if (!base) return NULL;
  base->count = count;
  memcpy(base->checks, cache->checks, bytes);
  base->end = fill_up(base->checks, base->checks + count);
  return cache->bases[cache->next_base++ % UNDEAD_MEMO_BASES] = base;
}

// Writes the checks of the site's frames behind `check`; NULL if they are not to be kept. `mask` tells whether the rbp
// outside of them matters, and then whether the one at the start does.
static undead_check *append_site(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame, uintptr_t *mask,
                                 undead_check *check) {
  undead_frame states[UNDEAD_RUN_FRAMES];
  undead_link links[UNDEAD_RUN_FRAMES];
  undead_rule rules[UNDEAD_RUN_FRAMES];
  for (uint32_t index = 0; index < UNDEAD_RUN_FRAMES; index++) {
    const undead_known_pc *known = know_pc(cache, frame.pc);
    if (!known || (index == 0 && known->rule & UNDEAD_RULE_LOADER)) return NULL;
    rules[index] = known->rule;
    links[index] = index ? links[index - 1] : (undead_link){0};
    if (step_any(&frame, &links[index], rules[index], stack_high) != UNDEAD_ODD_STEPPED) return NULL;
    states[index] = frame;
  }
  for (uint32_t index = UNDEAD_RUN_FRAMES; index-- > 0;) {
    check = write_link(check, &states[index], &links[index], *mask);
    if (rules[index] & UNDEAD_RULE_BP) *mask = ~(uintptr_t)0;
    else if (links[index].bp_slot) *mask = 0;
  }
  return check;
}

static undead_memo *make(undead_unwind_cache *cache, uintptr_t stack_high, const undead_memo_stack *stack) {
  uint32_t settled = stack->joined;
  while (settled > 0 && cache->stamps - cache->frames[settled].stamp < SETTLED_STAMPS) settled--;
  uint32_t shared = cache->frames[settled].first_check, outer_count = cache->frames[stack->joined].first_check;
  if (shared < LEAST_SHARED) shared = 0;
  uint32_t own_count = stack->own_count + outer_count - shared;
  if (own_count > MOST_CHECKS || shared > MOST_CHECKS) return NULL;
  const undead_memo_base *base = shared ? base_of(cache, shared) : NULL;
  uint32_t most = own_count + UNDEAD_LINK_CHECKS * UNDEAD_RUN_FRAMES + UNDEAD_MEMO_BLOCK;
  undead_memo *memo = base || !shared ? take(cache, (uint32_t)(sizeof *memo + most * sizeof(undead_check))) : NULL;
  if (!memo) {
    undead_memo_forget(cache);
    return NULL;
  }
  // Innermost first, but for the site's frames, which whoever looks for the stack has seen already.
  undead_check *end = memo->checks;
  for (uint32_t index = 0; index < stack->own_count; index++) *end++ = stack->own[index];
  for (uint32_t index = outer_count; index > shared; index--) *end++ = cache->checks[index - 1];
  uintptr_t mask = stack->outer_mask;
  end = append_site(cache, stack_high, stack->start, &mask, end);
  if (!end) return NULL;
  memo->end = fill_up(memo->checks, end);
  memo->base = base;
  memo->next = NULL;
  memo->context_slot = 0;
  memo->sp = stack->start.sp;
  memo->pc = stack->start.pc;
  memo->bp = stack->start.bp;
  memo->bp_mask = mask;
  memo->id = stack->id;
  return memo;
}

// True if stacks are not to be kept now.
static bool rests(undead_unwind_cache *cache) {
  if (++cache->memo_misses < TRIED_STACKS) return false;
  cache->memo_misses = 0;
  bool waste = cache->memo_hits < FEWEST_HITS;
  cache->memo_hits = 0;
  if (!waste) return false;
  cache->memo_rest = RESTING_STACKS;
  cache->expected = NULL;
  cache->followed = NULL;
  return true;
}

void undead_memo_consider(undead_unwind_cache *cache, uintptr_t stack_high, undead_memo **set,
                          const undead_memo_stack *stack) {
  if (rests(cache)) return;
  cache->memo_used = 1;
  undead_memo_place *place = place_of(cache, stack->id);
  undead_memo *memo = place->memo;
  const undead_frame *start = &stack->start;
  if (!memo || memo->id != stack->id || !undead_memo_holds(memo, start->pc, start->sp, start->bp)) {
    if (place->candidate != stack->id) {
      // Not yet: many stacks come only once. Of two that come in turn to one place, either is to get its second time.
      if (!place->candidate || cache->memo_turn++ % 2 == 0) place->candidate = stack->id;
      return;
    }
    memo = make(cache, stack_high, stack);
    if (!memo) return;
    memo->set = set;
    memo->made_before = cache->last_made;
    cache->last_made = memo;
    place->memo = memo;
  }
  if (memo->set != set) return;   // undead_memo_leave looks nowhere else
  set[1] = set[0];
  set[0] = memo;
  undead_memo_follow(cache, memo);
}
#endif
#endif
