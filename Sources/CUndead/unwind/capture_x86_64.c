// The frames around the caller of malloc are mostly those of the last time. A cached chain of frames is reused from the
// first frame whose state equals the current one, if every return address and every saved rbp outside of it still has
// its old value: unwinding is a function of just these words, so the result is that of a complete walk.
#if defined(__x86_64__)
#include "unwind/capture_x86_64.h"
#include "record/mode.h"
#include "unwind/backtrace.h"
#include "unwind/stack.h"
#include "unwind/store.h"
#include <assert.h>
#include <string.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define INLINE static inline __attribute__((always_inline))

// A cut chain is reused only while more frames than can be asked for are certain.
#define CERTAIN_FRAMES UNDEAD_DEPTH_LIMIT
// Frames of the chain that the thread has left are kept for its return, but only so many.
#define LEFT_FRAMES 16u

void undead_capture_reset(undead_unwind_cache *cache, uint32_t state) {
  cache->state = state | UNDEAD_CACHE_BUSY;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  cache->count = 0;
  cache->last = 0;
  cache->known_nodes = 0;
  cache->check_count = 0;
  cache->cut = false;
  memset(cache->inner, 0, sizeof cache->inner);
  memset(cache->pcs, 0, sizeof cache->pcs);
  for (uint32_t index = 0; index < UNDEAD_CACHED_FRAMES && cache->fresh[index].pc; index++) {
    cache->fresh[index].pc = 0;
    cache->fresh[index].rule = 0;
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  cache->state = state;
}

INLINE bool is_same(const undead_frame *known, uintptr_t bp_mask, const undead_frame *frame) {
  return known->sp == frame->sp && known->pc == frame->pc && ((known->bp ^ frame->bp) & bp_mask) == 0;
}

// True if all the words are what they were. Without a branch for each: they nearly always are.
INLINE bool holds(const undead_check *check, uint32_t count) {
  const undead_check *end = check + count;
  uintptr_t difference = 0;
  for (; end - check >= 4; check += 4)
    difference |= (*check[0].slot ^ check[0].value) | (*check[1].slot ^ check[1].value) |
                  (*check[2].slot ^ check[2].value) | (*check[3].slot ^ check[3].value);
  for (; check < end; check++) difference |= *check->slot ^ check->value;
  return difference == 0;
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

INLINE const undead_known_pc *know_pc(undead_unwind_cache *cache, uintptr_t pc) {
  undead_known_pc *known = &cache->pcs[undead_pc_hash(pc) >> 32 & (UNDEAD_KNOWN_PCS - 1)];
  if (LIKELY(known->pc == pc)) return known;
  undead_rule rule;
  uint32_t index = undead_pc_find(pc, &rule);
  if (UNLIKELY(index == UNDEAD_PC_NONE)) return NULL;
  *known = (undead_known_pc){pc, rule, index};
  return known;
}

// Like undead_store_child.
INLINE uint32_t know_child(undead_unwind_cache *cache, uint32_t parent, uint32_t pc_index) {
  uint32_t hash = parent * 0x85EBCA6Bu ^ pc_index * 0x9E3779B1u;
  undead_known_child *known = &cache->children[hash >> 16 & (UNDEAD_KNOWN_CHILDREN - 1)];
  if (LIKELY(known->parent == parent && known->pc_index == pc_index)) return known->node;
  uint32_t node = undead_store_child(parent, pc_index);
  if (LIKELY(node)) *known = (undead_known_child){parent, pc_index, node};
  return node;
}

// From a frame to its caller, by a plain rule; false if that leads out of the stack. What is read lies between the
// hook's own frame and the end of the stack: a rule relative to rbp has a small offset.
INLINE bool step(undead_frame *frame, const uintptr_t **bp_slot, undead_rule rule, uintptr_t stack_high) {
  uintptr_t cfa = (rule & UNDEAD_RULE_BP ? frame->bp : frame->sp) + undead_rule_offset(rule);
  uintptr_t distance = cfa - frame->sp, saved = undead_rule_saved(rule);
  if (UNLIKELY((distance - 1 >= stack_high - frame->sp) | ((distance & 7) != 0))) return false;
  frame->pc = ((const uintptr_t *)cfa)[-1];
  frame->sp = cfa;
  *bp_slot = NULL;
  if (saved) {
    *bp_slot = (const uintptr_t *)(cfa - saved);
    frame->bp = **bp_slot;
  }
  return true;
}

// False for a special rule, and for the one of address 0, which no function has.
INLINE bool is_plain(undead_rule rule) {
  return (rule & (UNDEAD_RULE_VALID | UNDEAD_RULE_SPECIAL)) == UNDEAD_RULE_VALID;
}

// What led to a frame: the inner frame's return address, and the slot where it saved rbp if that matters further out.
INLINE void append_checks(undead_unwind_cache *cache, const undead_cached_frame *cached, const uintptr_t *bp_slot) {
  const undead_frame *frame = &cached->frame;
  cache->checks[cache->check_count++] = (undead_check){(const uintptr_t *)frame->sp - 1, frame->pc};
  if (bp_slot && cached->bp_mask) cache->checks[cache->check_count++] = (undead_check){bp_slot, frame->bp};
}

// Puts a frame at `index` of the chain; the frames outside of it are in place.
INLINE void append_frame(undead_unwind_cache *cache, uint32_t index, const undead_fresh_frame *fresh) {
  undead_cached_frame *cached = &cache->frames[index];
  undead_rule rule = fresh->rule;
  cached->frame = fresh->frame;
  cached->pc_index = fresh->pc_index;
  cached->first_check = cache->check_count;
  cached->stamp = ++cache->stamps;
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
  cache->known_nodes = wanted;
  cache->cut = true;
  return wanted;
}

// Puts the new frames behind the `kept` ones that are still true; returns the node of the innermost, 0 if the store is
// full. `bp_slot` is where the state at the innermost kept frame found its rbp.
INLINE uint32_t push(undead_unwind_cache *cache, uint32_t kept, uint32_t fresh_count, const uintptr_t *bp_slot) {
  uint32_t node = kept ? cache->frames[kept - 1].node : UNDEAD_TRIE_ROOT;
  cache->check_count = 0;
  if (kept) {
    // The kept frame may have been reached another way than last time.
    cache->check_count = cache->frames[kept - 1].first_check;
    append_checks(cache, &cache->frames[kept - 1], bp_slot);
  }
  if (UNLIKELY(kept + fresh_count > UNDEAD_CACHED_FRAMES)) kept = drop_outermost(cache, kept, fresh_count);
  uint32_t index = kept;
  cache->count = 0;   // in case this is left in the middle
  while (fresh_count > 0) {
    const undead_fresh_frame *fresh = &cache->fresh[--fresh_count];
    undead_cached_frame *cached = &cache->frames[index];
    if (index < cache->known_nodes && cached->pc_index == fresh->pc_index) {
      node = cached->node;
    } else {
      cache->known_nodes = index;
      node = know_child(cache, node, fresh->pc_index);
      if (UNLIKELY(!node)) return 0;
      cached->node = node;
      cache->known_nodes = index + 1;
    }
    append_frame(cache, index++, fresh);
  }
  cache->count = index;
  return node;
}

// No cached frame is kept. The nodes of a cut chain stand for frames that are gone, so they are no use either.
static void restart(undead_unwind_cache *cache, bool cut) {
  if (cache->cut) cache->known_nodes = 0;
  cache->cut = cut;
}

// Remembers how the innermost frame of the chain joins frame `joined`, for when the chain has moved on.
INLINE void keep_branch(undead_unwind_cache *cache, undead_branch *branch, uint32_t joined) {
  const undead_cached_frame *outer = &cache->frames[joined], *inner = &cache->frames[cache->count - 1];
  uint32_t count = inner->first_check - outer->first_check;
  if (count > UNDEAD_BRANCH_CHECKS) return;
  branch->frame = inner->frame;
  branch->bp_mask = inner->bp_mask;
  branch->joined = joined;
  branch->joined_stamp = outer->stamp;
  branch->node = inner->node;
  branch->check_count = count;
  memcpy(branch->checks, cache->checks + outer->first_check, count * sizeof branch->checks[0]);
}

// Walks outwards to the first frame of the chain that is still true, and puts what is new behind it. Returns the node
// of `frame`, 0 if that cannot be done.
static __attribute__((noinline)) uint32_t extend_chain(undead_unwind_cache *cache, uintptr_t stack_high,
                                                       uintptr_t pc, uintptr_t sp, uintptr_t bp,
                                                       undead_branch *branch) {
  undead_frame frame = {pc, sp, bp};
  uint32_t fresh_count = 0, candidates = cache->count;
  const uintptr_t *bp_slot = NULL;
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
      if (UNLIKELY(!known)) return 0;
      fresh->pc = known->pc;
      fresh->rule = known->rule;
      fresh->pc_index = known->pc_index;
    }
    fresh->frame = frame;
    fresh->bp_slot = bp_slot;
    undead_rule rule = fresh->rule;
    if (UNLIKELY(!is_plain(rule))) {
      if (undead_rule_kind(rule) != UNDEAD_RULE_STOP) return 0;
      restart(cache, false);
      candidates = 0;
      break;
    }
    if (UNLIKELY(!step(&frame, &bp_slot, rule, stack_high))) return 0;
    if (UNLIKELY(fresh_count == UNDEAD_CACHED_FRAMES)) {
      restart(cache, true);
      candidates = 0;
      break;
    }
  }
  if (fresh_count == 0) {
    if (cache->count - candidates > LEFT_FRAMES) cache->count = candidates;
    cache->last = candidates - 1;
    return cache->frames[candidates - 1].node;
  }
  uint32_t node = push(cache, candidates, fresh_count, bp_slot);
  if (UNLIKELY(!node)) return 0;
  cache->last = cache->count - 1;
  // Not if frames were dropped: then the chain has fewer than that.
  if (candidates > 0 && cache->count == candidates + fresh_count) keep_branch(cache, branch, candidates - 1);
  return node;
}

// The node of a frame: it is mostly near to where the last capture met the chain, or one of few others. The frame comes
// in three values, so that it can stay in registers.
INLINE uint32_t find_node(undead_unwind_cache *cache, uintptr_t stack_high, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  const undead_frame frame = {pc, sp, bp};
  uint32_t last = cache->last;
  if (LIKELY(!cache->cut && last < cache->count)) {
    while (last > 0 && cache->frames[last].frame.sp < sp) last--;
    const undead_cached_frame *near = &cache->frames[last];
    if (is_same(&near->frame, near->bp_mask, &frame) && is_intact(cache, last)) {
      cache->last = last;
      return near->node;
    }
  }
  undead_branch *branch = &cache->branches[(undead_pc_hash(pc) >> 40 ^ sp >> 4) % UNDEAD_BRANCHES];
  if (LIKELY(!cache->cut) && is_same(&branch->frame, branch->bp_mask, &frame) && branch->joined < cache->count &&
      cache->frames[branch->joined].stamp == branch->joined_stamp && holds(branch->checks, branch->check_count) &&
      is_intact(cache, branch->joined))
    return branch->node;
  return extend_chain(cache, stack_high, pc, sp, bp, branch);
}

static __attribute__((noinline)) uint32_t add_run(const undead_known_pc *inner, uint32_t frames) {
  uint32_t node = UNDEAD_TRIE_RUNS;
  for (uint32_t index = frames; index > 0 && node; index--) node = undead_store_child(node, inner[index - 1].pc_index);
  return node;
}

static __attribute__((noinline)) uint32_t know_run(undead_unwind_cache *cache) {
  const undead_known_pc *inner = cache->inner;
  uint64_t hash = undead_pc_hash(inner[0].pc + inner[1].pc * 3 + inner[2].pc * 5);
  undead_known_run *known = &cache->runs[hash >> 40 & (UNDEAD_KNOWN_RUNS - 1)];
  if (known->pc[0] != inner[0].pc || known->pc[1] != inner[1].pc || known->pc[2] != inner[2].pc) {
    uint32_t run = add_run(inner, UNDEAD_RUN_FRAMES);
    if (!run) return 0;
    *known = (undead_known_run){{inner[0].pc, inner[1].pc, inner[2].pc}, run};
  }
  return cache->last_run = known->run;
}

// Whole stacks that are no deeper than a run; those that are deeper cannot be captured here.
static __attribute__((noinline)) uint32_t capture_short(undead_unwind_cache *cache, uint32_t frames) {
  if (undead_rule_kind(cache->inner[frames - 1].rule) != UNDEAD_RULE_STOP) return 0;
  uint32_t run = add_run(cache->inner, frames);
  return run ? undead_store_child(UNDEAD_TRIE_ROOT, run | UNDEAD_RUN_BIT) : 0;
}

INLINE uint32_t capture(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame, bool from_loader) {
  const uintptr_t *bp_slot;
#pragma clang loop unroll(full)
  for (uint32_t index = 0; index < UNDEAD_RUN_FRAMES; index++) {
    undead_known_pc *inner = &cache->inner[index];
    if (UNLIKELY(inner->pc != frame.pc)) {
      const undead_known_pc *known = know_pc(cache, frame.pc);
      if (UNLIKELY(!known)) return 0;
      *inner = *known;
      cache->last_run = 0;
    }
    if (UNLIKELY(!is_plain(inner->rule))) return capture_short(cache, index + 1);
    if (index == 0 && UNLIKELY(inner->rule & UNDEAD_RULE_LOADER) && !from_loader) return 0;
    if (UNLIKELY(!step(&frame, &bp_slot, inner->rule, stack_high))) return 0;
  }
  uint32_t run = LIKELY(cache->last_run) ? cache->last_run : know_run(cache);
  uint32_t node = find_node(cache, stack_high, frame.pc, frame.sp, frame.bp);
  return LIKELY(run && node) ? know_child(cache, node, run | UNDEAD_RUN_BIT) : 0;
}

uint32_t undead_capture_cached(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame, bool from_loader) {
  uint32_t state = cache->state;
  cache->state = state | UNDEAD_CACHE_BUSY;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint32_t id = capture(cache, stack_high, frame, from_loader);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  cache->state = state;
  return id;
}

uint32_t undead_backtrace_capture(uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_thread_state *thread = &undead_thread;
  undead_unwind_cache *cache = thread->unwind_cache;
  undead_frame frame = {pc, sp, bp};
  uint32_t epoch = __atomic_load_n(&undead_rules_epoch, __ATOMIC_ACQUIRE);
  // Equal only if the cache is not busy.
  if (LIKELY(cache && cache->state == epoch) && undead_stack_covers(thread, sp)) {
    cache->state = epoch | UNDEAD_CACHE_BUSY;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint32_t id = capture(cache, thread->stack_high, frame, false);
    bool whole = !cache->cut;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    cache->state = epoch;
    if (LIKELY(id && whole)) return id;
  }
  return undead_capture_slow(thread, frame);
}
#endif
