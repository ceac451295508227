#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// The frames around the caller of malloc are mostly those of the last time. A cached chain of frames is reused from the
// first frame whose state equals the current one, if every return address and every saved rbp outside of it still has
// its old value: unwinding is a function of just these words, so the result is that of a complete walk.
#if defined(__x86_64__)
#include "unwind/capture_x86_64.h"
#include "unwind/backtrace.h"
#include "unwind/known_x86_64.h"
#include "unwind/memo_x86_64.h"
#include "unwind/odd_x86_64.h"
#include "unwind/partial_x86_64.h"
#include "unwind/settings.h"
#include "unwind/site_x86_64.h"
#include "unwind/stack.h"
#include "unwind/store.h"
#include <assert.h>
#include <string.h>

// A cut chain is reused only while more frames than can be asked for are certain.
#define CERTAIN_FRAMES UNDEAD_DEPTH_LIMIT
// Frames of the chain that the thread has left are kept for its return, but only so many.
#define LEFT_FRAMES 16u
// A frame of the chain is settled when so many others were put into it since.
#define SETTLED_STAMPS 256u

static void forget_chain(undead_unwind_cache *cache) {
  cache->count = 0;
  cache->last = 0;
  cache->known_nodes = 0;
  cache->check_count = 0;
  cache->cut = false;
}

void undead_capture_leave(undead_unwind_cache *cache) {
  // Left in the middle of a capture: whatever was being written may be half of it.
  if (cache->state & UNDEAD_CACHE_BUSY) {
    undead_capture_reset(cache, 0);
    return;
  }
  forget_chain(cache);
  undead_memo_leave(cache);
}

void undead_capture_reset(undead_unwind_cache *cache, uint32_t state) {
  cache->state = state | UNDEAD_CACHE_BUSY;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  forget_chain(cache);
  undead_memo_forget(cache);
  memset(cache->pairs, 0, sizeof cache->pairs);
  memset(cache->sites, 0, sizeof cache->sites);
  memset(cache->pcs, 0, sizeof cache->pcs);
  memset(cache->branch_numbers, 0, sizeof cache->branch_numbers);
  memset(cache->caller_numbers, 0, sizeof cache->caller_numbers);
  cache->used_branches = cache->used_callers = 0;
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

INLINE bool is_same(const undead_frame *known, uintptr_t bp_mask, const undead_frame *frame) {
  return known->sp == frame->sp && known->pc == frame->pc && ((known->bp ^ frame->bp) & bp_mask) == 0;
}

#define CHECK_BLOCK 4
INLINE uintptr_t difference_of_block(const undead_check *check) {
  return (*check[0].slot ^ check[0].value) | (*check[1].slot ^ check[1].value) | (*check[2].slot ^ check[2].value) |
         (*check[3].slot ^ check[3].value);
}

// True if all the words are what they were. Without a branch for each: they nearly always are.
INLINE bool holds(const undead_check *check, uint32_t count) {
  const undead_check *end = check + count;
  uintptr_t difference = 0;
  if (UNLIKELY(count < CHECK_BLOCK)) {
    for (; check < end; check++) difference |= *check->slot ^ check->value;
    return difference == 0;
  }
  for (; end - check > CHECK_BLOCK; check += CHECK_BLOCK) difference |= difference_of_block(check);
  // The last block reaches back into the one before it: the number of rounds, which is guessed, changes less often.
  return (difference | difference_of_block(end - CHECK_BLOCK)) == 0;
}

// True if the stack still holds everything outside of frame `index`.
INLINE bool is_intact(const undead_unwind_cache *cache, uint32_t index) {
  return holds(cache->checks, cache->frames[index].first_check);
}

// The innermost frame outside of `index` whose own words have changed; everything between is still true.
static uint32_t innermost_changed(const undead_unwind_cache *cache, uint32_t index) {
  uint32_t check = cache->frames[index].first_check;
  while (check > 0 && *cache->checks[check - 1].slot == cache->checks[check - 1].value) check--;
  while (index > 0 && cache->frames[index].first_check >= check) index--;
  return index;
}

// What led to a frame: the inner frame's return address, and the slot where it saved rbp if that matters further out.
INLINE void append_checks(undead_unwind_cache *cache, const undead_cached_frame *cached, const undead_link *link) {
  undead_check *check = &cache->checks[cache->check_count];
  cache->check_count = (uint32_t)(write_link(check, &cached->frame, link, cached->bp_mask) - cache->checks);
}

// Puts a frame at `index` of the chain; the frames outside of it are in place.
INLINE void append_frame(undead_unwind_cache *cache, uint32_t index, const undead_fresh_frame *fresh) {
  undead_cached_frame *cached = &cache->frames[index];
  undead_rule rule = fresh->rule;
  cached->frame = fresh->frame;
  cached->pc_index = fresh->pc_index;
  cached->first_check = cache->check_count;
  cached->stamp = ++cache->stamps;
  if (rule & UNDEAD_RULE_BP) cached->bp_mask = ~(uintptr_t)0;
  else if (undead_rule_saved(rule)) cached->bp_mask = 0;   // also for the kind of a special rule
  else cached->bp_mask = index ? cache->frames[index - 1].bp_mask : cache->cut ? ~(uintptr_t)0 : 0;
  append_checks(cache, cached, &fresh->link);
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
  cache->known_nodes = wanted;
  cache->cut = true;
  return wanted;
}

// Finds the node of frame `index`, unless it is that of the frame which was there before; false if the store is full.
INLINE bool put_node(undead_unwind_cache *cache, uint32_t index, uint32_t pc_index, undead_known_node *outer) {
  undead_cached_frame *cached = &cache->frames[index];
  uint32_t node = cached->known.node;
  if (index >= cache->known_nodes || cached->pc_index != pc_index) {
    cache->known_nodes = index;
    node = know_next_child(cache, outer, pc_index);
    if (UNLIKELY(!node)) return false;
  }
  cached->known = known_node(node);
  if (cache->known_nodes == index) cache->known_nodes = index + 1;
  return true;
}

// Puts the new frames behind the `kept` ones that are still true; returns the node of the innermost, NULL if the store is
// full. `link` is what led to the innermost kept frame.
INLINE undead_known_node *push(undead_unwind_cache *cache, uint32_t kept, uint32_t fresh_count,
                               const undead_link *link) {
  undead_known_node root = kept ? cache->frames[kept - 1].known : known_node(UNDEAD_TRIE_ROOT);
  cache->check_count = 0;
  if (kept) {
    // The kept frame may have been reached another way than last time.
    cache->check_count = cache->frames[kept - 1].first_check;
    append_checks(cache, &cache->frames[kept - 1], link);
  }
  if (UNLIKELY(kept + fresh_count > UNDEAD_CACHED_FRAMES)) kept = drop_outermost(cache, kept, fresh_count);
  undead_known_node *outer = kept ? &cache->frames[kept - 1].known : &root;
  uint32_t index = kept;
  cache->count = 0;   // in case this is left in the middle
  while (fresh_count > 0) {
    const undead_fresh_frame *fresh = &cache->fresh[--fresh_count];
    undead_cached_frame *cached = &cache->frames[index];
    if (UNLIKELY(!put_node(cache, index, fresh->pc_index, outer))) return NULL;
    outer = &cached->known;
    append_frame(cache, index++, fresh);
  }
  cache->count = index;
  return outer;
}

// No cached frame is kept. The nodes of a cut chain stand for frames that are gone, so they are no use either.
static void restart(undead_unwind_cache *cache, bool cut) {
  if (cache->cut) cache->known_nodes = 0;
  cache->cut = cut;
}

INLINE uint16_t *branch_number(undead_unwind_cache *cache, const undead_frame *frame) {
  return &cache->branch_numbers[(near_hash(frame->pc) ^ frame->sp >> 4) % UNDEAD_BRANCHES];
}

// Remembers how the innermost frame of the chain joins frame `joined`, for when the chain has moved on.
INLINE void keep_branch(undead_unwind_cache *cache, uint32_t joined) {
  const undead_cached_frame *outer = &cache->frames[joined], *inner = &cache->frames[cache->count - 1];
  // Rather at a frame that has been there for a while than at one that the next capture may replace.
  while (joined > 0 && cache->stamps - outer->stamp < SETTLED_STAMPS &&
         inner->first_check - outer[-1].first_check <= UNDEAD_BRANCH_CHECKS) {
    outer--;
    joined--;
  }
  uint32_t count = inner->first_check - outer->first_check;
  if (count > UNDEAD_BRANCH_CHECKS) return;
  uint16_t *number = branch_number(cache, &inner->frame);
  if (!*number) *number = (uint16_t)++cache->used_branches;
  undead_branch *branch = &cache->branches[*number];
  branch->frame = inner->frame;
  branch->bp_mask = inner->bp_mask;
  branch->joined = joined;
  branch->joined_stamp = outer->stamp;
  branch->known = inner->known;
  branch->check_count = count;
  memcpy(branch->checks, cache->checks + outer->first_check, count * sizeof branch->checks[0]);
}

// Walks outwards to the first frame of the chain that is still true, and puts what is new behind it. Returns the node
// of `frame`, NULL if that cannot be done.
static __attribute__((noinline)) undead_known_node *extend_chain(undead_unwind_cache *cache, uintptr_t stack_high,
                                                                 uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_frame frame = {pc, sp, bp};
  uint32_t fresh_count = 0, candidates = cache->count;
  undead_link link = {0};
  for (;;) {
    while (candidates > 0 && cache->frames[candidates - 1].frame.sp < frame.sp) candidates--;
    if (candidates > 0 && is_same(&cache->frames[candidates - 1].frame, cache->frames[candidates - 1].bp_mask, &frame)) {
      if (LIKELY(is_intact(cache, candidates - 1))) {
        if (LIKELY(!cache->cut || candidates + fresh_count >= CERTAIN_FRAMES)) break;
        candidates = 0;
      } else {
        candidates = innermost_changed(cache, candidates - 1);
      }
    }
    undead_fresh_frame *fresh = &cache->fresh[fresh_count++];
    if (UNLIKELY(fresh->pc != frame.pc)) {
      const undead_known_pc *known = know_pc(cache, frame.pc);
      if (UNLIKELY(!known)) return NULL;
      fresh->pc = known->pc;
      fresh->rule = known->rule;
      fresh->pc_index = known->pc_index;
    }
    fresh->frame = frame;
    fresh->link = link;
    undead_rule rule = fresh->rule;
    undead_odd_step stepped = step_any(&frame, &link, rule, stack_high);
    if (UNLIKELY(stepped != UNDEAD_ODD_STEPPED)) {
      if (stepped == UNDEAD_ODD_LOST) return NULL;
      restart(cache, false);
      candidates = 0;
      break;
    }
    if (UNLIKELY(fresh_count == UNDEAD_CACHED_FRAMES)) {
      restart(cache, true);
      candidates = 0;
      break;
    }
  }
  if (fresh_count == 0) {
    if (cache->count - candidates > LEFT_FRAMES) cache->count = candidates;
    cache->last = candidates - 1;
    return &cache->frames[candidates - 1].known;
  }
  undead_known_node *node = push(cache, candidates, fresh_count, &link);
  if (UNLIKELY(!node)) return NULL;
  cache->last = cache->count - 1;
  // Not if frames were dropped: then the chain has fewer than that.
  if (candidates > 0 && cache->count == candidates + fresh_count) keep_branch(cache, candidates - 1);
  return node;
}

// The node of a frame that is not in the chain, but was called from one that is, at or outside of index `outer`; NULL
// if that is not so.
INLINE undead_known_node *extend_by_one(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame,
                                        uint32_t outer) {
  const undead_known_pc *known = know_pc(cache, frame.pc);
  if (UNLIKELY(!known) || UNLIKELY(!is_plain(known->rule))) return NULL;
  undead_fresh_frame fresh = {.frame = frame, .rule = known->rule, .pc_index = known->pc_index};
  undead_link link;
  if (UNLIKELY(!step(&frame, &link, fresh.rule, stack_high))) return NULL;
  while (outer > 0 && cache->frames[outer].frame.sp < frame.sp) outer--;
  undead_cached_frame *caller = &cache->frames[outer];
  uint32_t index = outer + 1;
  if (!is_same(&caller->frame, caller->bp_mask, &frame) || !is_intact(cache, outer) || index == UNDEAD_CACHED_FRAMES)
    return NULL;
  if (UNLIKELY(!put_node(cache, index, fresh.pc_index, &caller->known))) return NULL;
  cache->check_count = caller->first_check;
  append_checks(cache, caller, &link);
  append_frame(cache, index, &fresh);
  cache->count = index + 1;
  cache->last = index;
  return &cache->frames[index].known;
}

// The node of a frame: it is mostly near to where the last capture met the chain, or one of few others. The frame comes
// in three values, so that it can stay in registers.
INLINE undead_known_node *find_node(undead_unwind_cache *cache, uintptr_t stack_high, uintptr_t pc, uintptr_t sp,
                                    uintptr_t bp, const undead_branch **by_branch) {
  const undead_frame frame = {pc, sp, bp};
  uint32_t last = cache->last;
  if (LIKELY(!cache->cut && last < cache->count)) {
    while (last > 0 && cache->frames[last].frame.sp < sp) last--;
    undead_cached_frame *near = &cache->frames[last];
    if (is_same(&near->frame, near->bp_mask, &frame) && is_intact(cache, last)) {
      cache->last = last;
      return &near->known;
    }
    undead_branch *branch = &cache->branches[*branch_number(cache, &frame)];
    if (is_same(&branch->frame, branch->bp_mask, &frame) && branch->joined < cache->count &&
        cache->frames[branch->joined].stamp == branch->joined_stamp && holds(branch->checks, branch->check_count) &&
        is_intact(cache, branch->joined)) {
      *by_branch = branch;
      return &branch->known;
    }
    undead_known_node *node = extend_by_one(cache, stack_high, frame, last);
    if (LIKELY(node)) return node;
  }
  return extend_chain(cache, stack_high, pc, sp, bp);
}

// The frames come in single values, so that they stay in registers: a copy of one that was just written waits for it.
static __attribute__((noinline)) void consider(undead_unwind_cache *cache, uintptr_t stack_high, undead_memo **set,
                                               uintptr_t pc, uintptr_t sp, uintptr_t bp, const undead_branch *branch,
                                               uint32_t id) {
  undead_memo_stack stack = {.start = {pc, sp, bp}, .id = id, .joined = branch ? branch->joined : cache->last};
  stack.outer_mask = branch ? branch->bp_mask : cache->frames[cache->last].bp_mask;
  stack.own = branch ? branch->checks : NULL;
  stack.own_count = branch ? branch->check_count : 0;
  undead_memo_consider(cache, stack_high, set, &stack);
}

INLINE uint32_t capture(undead_unwind_cache *cache, uintptr_t stack_high, uintptr_t pc, uintptr_t sp, uintptr_t bp,
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
    return stepped == UNDEAD_ODD_END ? know_child(cache, UNDEAD_TRIE_ROOT, site->run | UNDEAD_RUN_BIT) : 0;
  if (UNLIKELY(link.sp_slot & UNDEAD_LINK_SIGNAL)) {
    const undead_known_pc *interrupted = know_pc(cache, frame.pc);
    if (!interrupted || undead_is_lost(interrupted, &link)) return 0;
  }
  undead_memo **set = NULL;
  if (cache->memo_rest == 0) {
    set = undead_memo_set(cache, site->run, frame.pc, frame.sp);
    uint32_t known = undead_memo_find(cache, set, pc, sp, bp);
    if (known) return known;
  } else {
    cache->memo_rest--;
  }
  if (UNLIKELY(site->skip)) {
    uint32_t partial = undead_partial_capture(cache, stack_high, site, frame);
    if (LIKELY(partial)) return partial;
  }
  const undead_branch *branch = NULL;
  undead_known_node *node = find_node(cache, stack_high, frame.pc, frame.sp, frame.bp, &branch);
  uint32_t id = LIKELY(node) ? know_next_child(cache, node, site->run | UNDEAD_RUN_BIT) : 0;
  if (UNLIKELY(undead_backtrace_hybrid)) undead_partial_walked(cache, site);
  if (set && id && !cache->cut) consider(cache, stack_high, set, pc, sp, bp, branch, id);
  return id;
}

uint32_t undead_capture_cached(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame, bool from_loader) {
  uint32_t state = cache->state;
  cache->state = state | UNDEAD_CACHE_BUSY;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint32_t id = capture(cache, stack_high, frame.pc, frame.sp, frame.bp, from_loader);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  cache->state = state;
  return id;
}

// A stack that was not expected.
static __attribute__((noinline)) uint32_t capture_frames(undead_thread_state *thread, uintptr_t pc, uintptr_t sp,
                                                         uintptr_t bp) {
  undead_unwind_cache *cache = thread->unwind_cache;
  uint32_t epoch = __atomic_load_n(&undead_rules_epoch, __ATOMIC_ACQUIRE);
  // Equal only if the cache is not busy.
  if (LIKELY(cache && cache->state == epoch) && undead_stack_covers(thread, sp)) {
    cache->state = epoch | UNDEAD_CACHE_BUSY;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint32_t id = capture(cache, thread->stack_high, pc, sp, bp, false);
    bool whole = !cache->cut;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    cache->state = epoch;
    if (LIKELY(id && whole)) return id;
  }
  return undead_capture_slow(thread, (undead_frame){pc, sp, bp});
}

// The stack that is expected after the last one, in a cache of this epoch that is not busy.
static __attribute__((noinline)) uint32_t capture_expected(undead_thread_state *thread, uintptr_t pc, uintptr_t sp,
                                                           uintptr_t bp) {
  undead_unwind_cache *cache = thread->unwind_cache;
  uint32_t epoch = cache->state;
  cache->state = epoch | UNDEAD_CACHE_BUSY;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint32_t id = undead_memo_expected(cache, pc, sp, bp);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  cache->state = epoch;
  return LIKELY(id) ? id : capture_frames(thread, pc, sp, bp);
}

uint32_t undead_backtrace_capture(uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_thread_state *thread = &undead_thread;
  undead_unwind_cache *cache = thread->unwind_cache;
  uint32_t epoch = __atomic_load_n(&undead_rules_epoch, __ATOMIC_ACQUIRE);
  bool expected = LIKELY(cache && cache->state == epoch) && cache->expected;
  return expected ? capture_expected(thread, pc, sp, bp) : capture_frames(thread, pc, sp, bp);
}
#endif
#endif
