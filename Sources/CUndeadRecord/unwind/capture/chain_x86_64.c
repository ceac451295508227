#include "unwind/capture/chain_x86_64.h"
#include "unwind/backtrace.h"
#include "unwind/capture/odd_x86_64.h"
#include "unwind/settings.h"
#include "unwind/store/store.h"
#include <string.h>

// A cut chain is reused only while more frames than can be asked for are certain.
#define CERTAIN_FRAMES UNDEAD_DEPTH_LIMIT
// Frames of the chain that the thread has left are kept for its return, but only so many.
#define LEFT_FRAMES 16u

void undead_chain_forget(undead_unwind_cache *cache) {
  cache->count = 0;
  cache->last = 0;
  cache->known_nodes = 0;
  cache->check_count = 0;
  cache->cut = false;
}

// Makes room by forgetting the outermost frames; the nodes of the others stand for them.
static uint32_t drop_outermost(undead_unwind_cache *cache, uint32_t kept, uint32_t fresh_count, undead_check **end) {
  uint32_t half = UNDEAD_CACHED_FRAMES / 2;
  uint32_t wanted = fresh_count < half ? half - fresh_count : 0;
  uint32_t dropped = kept - wanted;
  uint32_t check_count = (uint32_t)(*end - cache->checks);
  uint32_t first_check = wanted ? cache->frames[dropped].first_check : check_count;
  memmove(cache->frames, cache->frames + dropped, wanted * sizeof cache->frames[0]);
  memmove(cache->checks, cache->checks + first_check, (check_count - first_check) * sizeof cache->checks[0]);
  for (uint32_t index = 0; index < wanted; index++) cache->frames[index].first_check -= first_check;
  *end -= first_check;
  cache->known_nodes = wanted;
  cache->cut = true;
  return wanted;
}

// Notes what is to be looked up in the store: the frames from `outermost` inwards, and `leaf`. Returns how many these are.
static __attribute__((noinline)) uint32_t list_keys(undead_unwind_cache *cache, const undead_fresh_frame *outermost,
                                                    uint32_t leaf) {
  uint32_t *key = cache->keys;
  for (const undead_fresh_frame *inner = outermost; inner >= cache->fresh; inner--) *key++ = inner->pc_index;
  *key++ = leaf;
  return (uint32_t)(key - cache->keys);
}

// True if a rule further out depends on the rbp of a frame, whose rule this is, as all ones.
INLINE uintptr_t mask_of(undead_rule rule, uintptr_t outer_mask) {
  if (LIKELY(rule & UNDEAD_RULE_BP)) return ~(uintptr_t)0;
  return undead_rule_saved(rule) ? 0 : outer_mask;   // also for the kind of a special rule
}

// Puts the new frames behind the `kept` ones that are still true; returns the id of `leaf` below the innermost, 0 if the
// store is full. `link` is what led to the innermost kept frame.
INLINE uint32_t push(undead_unwind_cache *cache, uint32_t kept, uint32_t fresh_count, const undead_link *link,
                     uint32_t leaf) {
  undead_known_node root = kept ? cache->frames[kept - 1].known : known_node(UNDEAD_TRIE_ROOT);
  uintptr_t mask = cache->cut ? ~(uintptr_t)0 : 0;
  undead_check *check = cache->checks;
  if (LIKELY(kept)) {
    // The kept frame may have been reached another way than last time.
    const undead_cached_frame *innermost = &cache->frames[kept - 1];
    mask = innermost->bp_mask;
    check = write_link(check + innermost->first_check, &innermost->frame, link, mask);
  }
  if (UNLIKELY(kept + fresh_count > UNDEAD_CACHED_FRAMES)) kept = drop_outermost(cache, kept, fresh_count, &check);
  undead_known_node *outer = kept ? &cache->frames[kept - 1].known : &root;
  undead_cached_frame *cached = &cache->frames[kept];
  uint32_t index = kept, known_nodes = cache->known_nodes;
  const uint32_t *made = NULL;   // the nodes of all that is left, if they are new
  const undead_fresh_frame *listed = NULL;   // the first of the keys that are to be looked up
  uint32_t key_count = 0;
  cache->count = 0;   // in case this is left in the middle
  for (const undead_fresh_frame *fresh = &cache->fresh[fresh_count - 1];; fresh--) {
    uint32_t node = cached->known.node, pc_index = fresh->pc_index;
    // Mostly not that of the frame which was there before.
    if (made || index >= known_nodes || cached->pc_index != pc_index) {
      node = made ? *made++ : undead_store_linked(outer->link, pc_index);
      if (!node) {
        if (!listed) key_count = list_keys(cache, listed = fresh, leaf);
        uint32_t at = (uint32_t)(listed - fresh);
        uint32_t found = undead_store_path(outer->node, cache->keys + at, key_count - at, cache->nodes);
        if (UNLIKELY(!found)) return cache->known_nodes = 0;
        node = cache->nodes[0];
        if (found > 1) made = cache->nodes + 1;
      }
      outer->link = undead_store_link_behind(node);
      known_nodes = index + 1;
    }
    uintptr_t bp_mask = mask_of(fresh->rule, mask);
    cached->frame = fresh->frame;
    cached->bp_mask = mask = bp_mask;
    cached->pc_index = pc_index;
    cached->first_check = (uint32_t)(check - cache->checks);
    cached->known = known_node(node);
    outer = &cached->known;
    check = write_link(check, &fresh->frame, &fresh->link, bp_mask);
    cached++;
    index++;
    if (fresh == cache->fresh) break;
  }
  cache->known_nodes = known_nodes;
  cache->check_count = (uint32_t)(check - cache->checks);
  cache->count = index;
  if (!made) return know_next_child(outer, leaf);
  outer->link = undead_store_link_behind(*made);
  return *made;
}

// No cached frame is kept. The nodes of a cut chain stand for frames that are gone, so they are no use either.
static void restart(undead_unwind_cache *cache, bool cut) {
  if (cache->cut) cache->known_nodes = 0;
  cache->cut = cut;
}

// Puts one frame behind `caller`, as `push` does.
INLINE uint32_t push_one(undead_unwind_cache *cache, undead_cached_frame *caller, const undead_frame *frame,
                         const undead_known_pc *known, const undead_link *link, uint32_t leaf) {
  undead_cached_frame *cached = caller + 1;
  uint32_t node = cached->known.node, pc_index = known->pc_index, id = 0, index = (uint32_t)(cached - cache->frames);
  if (index >= cache->known_nodes || cached->pc_index != pc_index) {
    node = undead_store_linked(caller->known.link, pc_index);
    if (!node) {
      cache->keys[0] = pc_index;
      cache->keys[1] = leaf;
      uint32_t found = undead_store_path(caller->known.node, cache->keys, 2, cache->nodes);
      if (UNLIKELY(!found)) return cache->known_nodes = 0;
      node = cache->nodes[0];
      if (found == 2) id = cache->nodes[1];
    }
    caller->known.link = undead_store_link_behind(node);
    cache->known_nodes = index + 1;
  }
  undead_check *check = write_link(cache->checks + caller->first_check, &caller->frame, link, caller->bp_mask);
  cached->frame = *frame;
  cached->bp_mask = mask_of(known->rule, caller->bp_mask);
  cached->pc_index = pc_index;
  cached->first_check = cache->check_count = (uint32_t)(check - cache->checks);
  cached->known = known_node(node);
  cache->last = index;
  cache->count = index + 1;
  if (!id) return know_next_child(&cached->known, leaf);
  cached->known.link = undead_store_link_behind(id);
  return id;
}

// How far outwards a walk is, and which frames of the chain may be met yet.
typedef struct {
  undead_frame frame;
  undead_link link;                       // what led to it
  undead_fresh_frame *fresh;              // behind the last one that is not in the chain
  const undead_cached_frame *candidate;   // before the first one: no frame is left
  uint32_t true_checks;
} chain_walk;

// True if the frame is one of the chain, and all that is outside of it is as it was. The words are compared once: what is outside
// of the first one that differs is true for all frames.
INLINE bool meets_chain(const undead_unwind_cache *cache, chain_walk *w) {
  const undead_cached_frame *frames = cache->frames;
  while (w->candidate >= frames && w->candidate->frame.sp < w->frame.sp) w->candidate--;
  if (w->candidate < frames || !is_same(&w->candidate->frame, w->candidate->bp_mask, &w->frame)) return false;
  if (w->true_checks == UNDEAD_NOT_COUNTED) w->true_checks = count_true(cache, w->candidate->first_check);
  if (LIKELY(w->candidate->first_check <= w->true_checks)) return true;
  while (w->candidate >= frames && w->candidate->first_check > w->true_checks) w->candidate--;
  return false;
}

// Walks to a frame of the chain that is still true, or to the end; false if that cannot be done.
INLINE bool walk_out(undead_unwind_cache *cache, uintptr_t stack_high, chain_walk *w) {
  const undead_cached_frame *frames = cache->frames;
  for (;;) {
    if (meets_chain(cache, w)) {
      if (LIKELY(!cache->cut || (w->candidate + 1 - frames) + (w->fresh - cache->fresh) >= CERTAIN_FRAMES)) return true;
      w->candidate = frames - 1;
    }
    undead_fresh_frame *fresh = w->fresh++;
    if (UNLIKELY(fresh->pc != w->frame.pc)) {
      const undead_known_pc *known = know_pc(cache, w->frame.pc);
      if (UNLIKELY(!known)) return false;
      fresh->pc = known->pc;
      fresh->rule = known->rule;
      fresh->pc_index = known->pc_index;
    }
    fresh->frame = w->frame;
    fresh->link = w->link;
    undead_odd_step stepped = step_any(&w->frame, &w->link, fresh->rule, stack_high);
    bool full = w->fresh == cache->fresh + UNDEAD_CACHED_FRAMES;
    if (UNLIKELY(stepped != UNDEAD_ODD_STEPPED || full)) {
      if (stepped == UNDEAD_ODD_LOST) return false;
      restart(cache, stepped == UNDEAD_ODD_STEPPED);
      w->candidate = frames - 1;
      return true;
    }
  }
}

INLINE uint32_t extend(undead_unwind_cache *cache, uintptr_t stack_high, chain_walk *w, uint32_t leaf) {
  if (UNLIKELY(!walk_out(cache, stack_high, w))) return 0;
  uint32_t kept = (uint32_t)(w->candidate + 1 - cache->frames), fresh_count = (uint32_t)(w->fresh - cache->fresh);
  if (fresh_count == 0) {
    if (cache->count - kept > LEFT_FRAMES) cache->count = kept;
    cache->last = kept - 1;
    return know_next_child(&cache->frames[kept - 1].known, leaf);
  }
  uint32_t id = push(cache, kept, fresh_count, &w->link, leaf);
  if (UNLIKELY(!id)) return 0;
  cache->last = cache->count - 1;
  return id;
}

uint32_t undead_chain_extend(undead_unwind_cache *cache, uintptr_t stack_high, uintptr_t pc, uintptr_t sp, uintptr_t bp,
                             uint32_t leaf, uint32_t true_checks) {
  undead_cached_frame *last = cache->frames + cache->last, *end = cache->frames + cache->count;
  chain_walk w = {.frame = {pc, sp, bp}, .fresh = cache->fresh, .candidate = end - 1, .true_checks = true_checks};
  const undead_known_pc *known = know_pc(cache, pc);
  if (UNLIKELY(!known)) return 0;
  bool is_near = !cache->cut && last < end && (last + 1 == end || last[1].frame.sp < sp);
  if (LIKELY(is_near && is_plain(known->rule))) {
    // Mostly a frame of the chain has called it, at or outside of where the last capture was.
    w.candidate = last;
    if (UNLIKELY(!step(&w.frame, &w.link, known->rule, stack_high))) return 0;
    if (meets_chain(cache, &w) && LIKELY(w.candidate + 1 < cache->frames + UNDEAD_CACHED_FRAMES))
      return push_one(cache, &cache->frames[w.candidate - cache->frames], &(undead_frame){pc, sp, bp}, known, &w.link, leaf);
    *w.fresh++ = (undead_fresh_frame){{pc, sp, bp}, {0}, pc, known->rule, known->pc_index};
  }
  return extend(cache, stack_high, &w, leaf);
}
