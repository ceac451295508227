// The frames around the caller of malloc are mostly those of the last time. A cached chain of frames is reused from the
// first frame whose state equals the current one, if every return address and every saved rbp outside of it still has
// its old value: unwinding is a function of just these words, so the result is that of a complete walk.
#include "unwind/capture/capture_x86_64.h"
#include "unwind/backtrace.h"
#include "unwind/capture/chain_x86_64.h"
#include "unwind/capture/known_x86_64.h"
#include "unwind/capture/memo_x86_64.h"
#include "unwind/capture/odd_x86_64.h"
#include "unwind/capture/site_x86_64.h"
#include "unwind/store/stack.h"
#include <string.h>

void undead_capture_leave(undead_unwind_cache *cache) {
  // Left in the middle of a capture: whatever was being written may be half of it.
  if (cache->state & UNDEAD_CACHE_BUSY) {
    undead_capture_reset(cache, 0);
    return;
  }
  undead_chain_forget(cache);
  undead_memo_leave(cache);
}

void undead_capture_reset(undead_unwind_cache *cache, uint32_t state) {
  cache->state = state | UNDEAD_CACHE_BUSY;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  undead_chain_forget(cache);
  undead_memo_forget(cache);
  memset(cache->pairs, 0, sizeof cache->pairs);
  memset(cache->sites, 0, sizeof cache->sites);
  memset(cache->pcs, 0, sizeof cache->pcs);
  memset(cache->caller_numbers, 0, sizeof cache->caller_numbers);
  cache->used_callers = 0;
  if (cache->knows_saves) memset(cache->saves, 0, sizeof cache->saves);
  cache->knows_saves = false;
  for (uint32_t index = 0; index < UNDEAD_CACHED_FRAMES && cache->fresh[index].pc; index++) {
    cache->fresh[index].pc = 0;
    cache->fresh[index].rule = 0;
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  cache->state = state;
}

void undead_capture_forget_pc(undead_unwind_cache *cache, uintptr_t pc) {
  undead_known_pc *known = &cache->pcs[near_hash(pc) & (UNDEAD_KNOWN_PCS - 1)];
  if (known->pc == pc) *known = (undead_known_pc){0};
  // An address that none is: 0 would be the end of those that are in use.
  for (uint32_t index = 0; index < UNDEAD_CACHED_FRAMES && cache->fresh[index].pc; index++)
    if (cache->fresh[index].pc == pc) cache->fresh[index].pc = 1;
}

// The id of what `leaf` stands for below a frame: that is mostly near to where the last capture met the chain, else in the
// rest of it. The frame comes in three values, so that it can stay in registers.
INLINE uint32_t find_id(undead_unwind_cache *cache, uintptr_t stack_high, uintptr_t pc, uintptr_t sp, uintptr_t bp,
                        uint32_t leaf) {
  const undead_frame frame = {pc, sp, bp};
  uint32_t last = cache->last, true_checks = UNDEAD_NOT_COUNTED;
  if (LIKELY(!cache->cut && last < cache->count)) {
    while (last > 0 && cache->frames[last].frame.sp < sp) last--;
    undead_cached_frame *near = &cache->frames[last];
    if (is_same(&near->frame, near->bp_mask, &frame)) {
      true_checks = count_true(cache, near->first_check);
      if (LIKELY(true_checks == near->first_check)) {
        cache->last = last;
        return know_next_child(&near->known, leaf);
      }
    }
    cache->last = last;
  }
  return undead_chain_extend(cache, stack_high, pc, sp, bp, leaf, true_checks);
}

// The frames come in single values, so that they stay in registers: a copy of one that was just written waits for it.
static __attribute__((noinline)) void consider(undead_unwind_cache *cache, uintptr_t stack_high, undead_memo **set,
                                               uintptr_t pc, uintptr_t sp, uintptr_t bp, uint32_t id) {
  undead_memo_consider(cache, stack_high, set, &(undead_frame){pc, sp, bp}, id);
}

// What `call` returns, while a handler that captures leaves the cache alone.
#define IN_CACHE(cache, call)                            \
  ({                                                     \
    uint32_t state_before = (cache)->state;              \
    (cache)->state = state_before | UNDEAD_CACHE_BUSY;   \
    __atomic_signal_fence(__ATOMIC_SEQ_CST);             \
    uint32_t result = (call);                            \
    __atomic_signal_fence(__ATOMIC_SEQ_CST);             \
    (cache)->state = state_before;                       \
    result;                                              \
  })

INLINE uint32_t capture_at(undead_unwind_cache *cache, uintptr_t stack_high, uintptr_t pc, uintptr_t sp, uintptr_t bp,
                        bool from_loader) {
  cache->holds = false;
  undead_frame frame = {pc, sp, bp};
  const undead_known_site *site = match_site(cache, stack_high, &frame);
  if (UNLIKELY(!site)) {
    frame = (undead_frame){pc, sp, bp};
    uint32_t id;
    site = undead_site_learn(cache, stack_high, &frame, from_loader, &id);
    if (!site) return id;
  }
  undead_link link = {0};
  undead_odd_step stepped = step_any(&frame, &link, site->rule, stack_high);
  if (UNLIKELY(stepped != UNDEAD_ODD_STEPPED))
    return stepped == UNDEAD_ODD_END ? undead_store_child(UNDEAD_TRIE_ROOT, site->run | UNDEAD_RUN_BIT) : 0;
  undead_memo **set = NULL;
  if (cache->memo_rest == 0) {
    set = undead_memo_set(cache, site->run, frame.pc, frame.sp);
    uint32_t known = undead_memo_find(cache, set, pc, sp, bp);
    if (known) return known;
  } else {
    cache->memo_rest--;
  }
  uint32_t id = find_id(cache, stack_high, frame.pc, frame.sp, frame.bp, site->run | UNDEAD_RUN_BIT);
  if (set && id && !cache->cut) consider(cache, stack_high, set, pc, sp, bp, id);
  return id;
}

INLINE uint32_t capture_whole(undead_unwind_cache *cache, uintptr_t stack_high, uintptr_t pc, uintptr_t sp, uintptr_t bp,
                              bool *whole) {
  uint32_t id = capture_at(cache, stack_high, pc, sp, bp, false);
  *whole = !cache->cut;
  return id;
}

uint32_t undead_capture_cached(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame, bool from_loader) {
  return IN_CACHE(cache, capture_at(cache, stack_high, frame.pc, frame.sp, frame.bp, from_loader));
}

uint32_t undead_capture_known(undead_unwind_cache *cache, uintptr_t place, undead_frame frame) {
  return IN_CACHE(cache, (cache->holds = false, undead_memo_find_walked(cache, place, &frame)));
}

// A stack that was not expected.
static __attribute__((noinline)) uint32_t capture_frames(undead_thread_state *thread, uintptr_t pc, uintptr_t sp,
                                                         uintptr_t bp) {
  undead_unwind_cache *cache = thread->unwind_cache;
  uint32_t epoch = __atomic_load_n(&undead_rules_epoch, __ATOMIC_ACQUIRE);
  // Equal only if the cache is not busy.
  bool usable = LIKELY(cache && cache->state == epoch) && LIKELY(undead_stack_covers(thread, sp));
  bool whole = true;
  if (usable) {
    uint32_t id = IN_CACHE(cache, capture_whole(cache, thread->stack_high, pc, sp, bp, &whole));
    if (LIKELY(id && whole)) return id;
  }
  return undead_capture_slow(thread, (undead_frame){pc, sp, bp}, usable && whole);
}

// Another stack than the thread's own, which is expected after the last one.
static __attribute__((noinline)) uint32_t capture_elsewhere(undead_thread_state *thread, uintptr_t pc, uintptr_t sp,
                                                            uintptr_t bp) {
  undead_unwind_cache *cache = thread->unwind_cache;
  uint32_t id = IN_CACHE(cache, undead_memo_expected_elsewhere(cache, pc, sp, bp));
  return LIKELY(id) ? id : capture_frames(thread, pc, sp, bp);
}

static __attribute__((noinline)) uint32_t capture_unexpected(undead_thread_state *thread, uintptr_t pc, uintptr_t sp,
                                                             uintptr_t bp) {
  const undead_unwind_cache *cache = thread->unwind_cache;
  const undead_memo *expected = cache->expected;
  bool elsewhere = expected && UNLIKELY(expected->sp == ~sp);
  return elsewhere ? capture_elsewhere(thread, pc, sp, bp) : capture_frames(thread, pc, sp, bp);
}

// The stack that is expected after the last one, in a cache of this epoch that is not busy.
static __attribute__((noinline)) uint32_t capture_expected(undead_thread_state *thread, uintptr_t pc, uintptr_t sp,
                                                           uintptr_t bp) {
  undead_unwind_cache *cache = thread->unwind_cache;
  uint32_t id = IN_CACHE(cache, undead_memo_expected(cache, pc, sp, bp));
  return LIKELY(id) ? id : capture_unexpected(thread, pc, sp, bp);
}

uint32_t undead_backtrace_capture(uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_thread_state *thread = &undead_thread;
  undead_unwind_cache *cache = thread->unwind_cache;
  uint32_t epoch = __atomic_load_n(&undead_rules_epoch, __ATOMIC_ACQUIRE);
  bool expected = LIKELY(cache && cache->state == epoch) && cache->expected;
  return expected ? capture_expected(thread, pc, sp, bp) : capture_frames(thread, pc, sp, bp);
}
