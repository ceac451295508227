// The frames around the caller of malloc are mostly those of the last time. A cached chain of frames is reused from the
// first frame whose state equals the current one, if every return address and every saved rbp outside of it still has
// its old value: unwinding is a function of just these words, so the result is that of a complete walk.
#if defined(__x86_64__)
#include "unwind/capture_x86_64.h"
#include "record/mode.h"
#include "unwind/store.h"
#include <assert.h>
#include <string.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define INLINE static inline __attribute__((always_inline))

// A cut chain is reused only while more frames than can be asked for are certain.
#define CERTAIN_FRAMES UNDEAD_DEPTH_LIMIT

INLINE bool is_same(const undead_cached_frame *cached, const undead_frame *frame) {
  return cached->frame.sp == frame->sp && cached->frame.pc == frame->pc &&
         ((cached->frame.bp ^ frame->bp) & cached->bp_mask) == 0;
}

// True if the stack still holds everything outside of frame `index`.
INLINE bool is_intact(const undead_unwind_cache *cache, uint32_t index) {
  const undead_check *check = cache->checks, *end = check + cache->frames[index].first_check;
  uintptr_t difference = 0;
  for (; check < end; check++) difference |= *check->slot ^ check->value;
  return difference == 0;
}

// The innermost frame outside of `index` whose own words have changed; everything between is still true.
static uint32_t innermost_changed(const undead_unwind_cache *cache, uint32_t index) {
  uint32_t check = cache->frames[index].first_check;
  while (check > 0 && *cache->checks[check - 1].slot == cache->checks[check - 1].value) check--;
  while (index > 0 && cache->frames[index].first_check >= check) index--;
  return index;
}

// What led to a frame: the inner frame's return address, and the slot where it saved rbp if that matters further out.
INLINE void append_checks(undead_unwind_cache *cache, const undead_cached_frame *cached, const uintptr_t *bp_slot) {
  const undead_frame *frame = &cached->frame;
  cache->checks[cache->check_count++] = (undead_check){(const uintptr_t *)frame->sp - 1, frame->pc};
  if (bp_slot && cached->bp_mask) cache->checks[cache->check_count++] = (undead_check){bp_slot, frame->bp};
}

// Fills in what depends on the frames outside of frame `index`, which are in place.
INLINE void append_frame(undead_unwind_cache *cache, uint32_t index, const undead_fresh_frame *fresh) {
  undead_cached_frame *cached = &cache->frames[index];
  cached->frame = fresh->frame;
  cached->pc_index = fresh->pc_index;
  cached->first_check = cache->check_count;
  undead_rule rule = fresh->rule;
  if (rule & UNDEAD_RULE_SPECIAL) cached->bp_mask = 0;
  else if (rule & UNDEAD_RULE_BP) cached->bp_mask = ~(uintptr_t)0;
  else if (undead_rule_saved(rule)) cached->bp_mask = 0;
  else cached->bp_mask = index ? cache->frames[index - 1].bp_mask : cache->cut ? ~(uintptr_t)0 : 0;
  append_checks(cache, cached, fresh->bp_slot);
}

// Makes room by forgetting the outermost frames; the nodes of the others stand for them.
static uint32_t drop_outermost(undead_unwind_cache *cache, uint32_t kept, uint32_t fresh_count) {
  uint32_t half = UNDEAD_CACHED_FRAMES / 2;
  uint32_t wanted = fresh_count < half ? half - fresh_count : 0;
  uint32_t dropped = kept - wanted;
  uint32_t first_check = wanted ? cache->frames[dropped].first_check : cache->check_count;
  memmove(cache->frames, cache->frames + dropped, wanted * sizeof cache->frames[0]);
  memmove(cache->checks, cache->checks + first_check, (cache->check_count - first_check) * sizeof cache->checks[0]);
  for (uint32_t index = 0; index < wanted; index++) cache->frames[index].first_check -= first_check;
  cache->check_count -= first_check;
  cache->cut = true;
  return wanted;
}

// Puts the new frames behind the `kept` ones that are still true; returns the id of the whole stack, 0 if it is full.
// `bp_slot` is where the state at the innermost kept frame found its rbp.
INLINE uint32_t commit(undead_unwind_cache *cache, uint32_t kept, uint32_t fresh_count, const uintptr_t *bp_slot) {
  uint32_t old_count = cache->count;
  uint32_t node = kept ? cache->frames[kept - 1].node : UNDEAD_TRIE_ROOT;
  cache->count = 0;   // in case this is left in the middle
  cache->check_count = 0;
  if (kept) {
    // The kept frame may have been reached another way than last time.
    cache->check_count = cache->frames[kept - 1].first_check;
    append_checks(cache, &cache->frames[kept - 1], bp_slot);
  }
  if (UNLIKELY(kept + fresh_count > UNDEAD_CACHED_FRAMES)) {
    kept = drop_outermost(cache, kept, fresh_count);
    old_count = kept;
  }
  bool same = true;   // so far the frames are what they were, so their nodes are known
  uint32_t index = kept;
  while (fresh_count > 0) {
    const undead_fresh_frame *fresh = &cache->fresh[--fresh_count];
    same = same && index < old_count && cache->frames[index].pc_index == fresh->pc_index;
    node = same ? cache->frames[index].node : undead_store_child(node, fresh->pc_index);
    if (UNLIKELY(!node)) return 0;
    append_frame(cache, index, fresh);
    cache->frames[index].node = node;
    index++;
  }
  cache->count = index;
  return node;
}

// No cached frame is kept. The nodes of a cut chain stand for frames that are gone, so they are no use either.
static void restart(undead_unwind_cache *cache, bool cut) {
  if (cache->cut) cache->count = 0;
  cache->cut = cut;
}

uint32_t undead_capture_cached(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame) {
  uint32_t fresh_count = 0, candidates = cache->count;
  const uintptr_t *bp_slot = NULL;
  uintptr_t stack_low = frame.sp;
  for (;;) {
    while (candidates > 0 && cache->frames[candidates - 1].frame.sp < frame.sp) candidates--;
    if (candidates > 0 && is_same(&cache->frames[candidates - 1], &frame)) {
      if (LIKELY(is_intact(cache, candidates - 1))) {
        if (LIKELY(!cache->cut || candidates + fresh_count >= CERTAIN_FRAMES)) break;
        candidates = 0;
      } else {
        candidates = innermost_changed(cache, candidates - 1);
      }
    }
    undead_fresh_frame *fresh = &cache->fresh[fresh_count++];
    fresh->frame = frame;
    fresh->bp_slot = bp_slot;
    fresh->pc_index = undead_pc_find(frame.pc, &fresh->rule);
    undead_rule rule = fresh->rule;
    if (UNLIKELY(fresh->pc_index == UNDEAD_PC_NONE)) return 0;
    if (UNLIKELY(rule & UNDEAD_RULE_SPECIAL)) {
      if (!(rule & UNDEAD_RULE_STOP)) return 0;
      restart(cache, false);
      candidates = 0;
      break;
    }
    uintptr_t cfa = (rule & UNDEAD_RULE_BP ? frame.bp : frame.sp) + undead_rule_offset(rule);
    uintptr_t saved = undead_rule_saved(rule);
    if (UNLIKELY(cfa <= frame.sp || cfa > stack_high || ((cfa | saved) & 7) || cfa - saved < stack_low)) return 0;
    frame.pc = ((const uintptr_t *)cfa)[-1];
    frame.sp = cfa;
    bp_slot = saved ? (const uintptr_t *)(cfa - saved) : NULL;
    if (bp_slot) frame.bp = *bp_slot;
    if (UNLIKELY(!frame.pc)) return 0;
    if (UNLIKELY(fresh_count == UNDEAD_CACHED_FRAMES)) {
      restart(cache, true);
      candidates = 0;
      break;
    }
  }
  return commit(cache, candidates, fresh_count, bp_slot);
}
#endif
