#include "unwind/capture/site_x86_64.h"
#include "unwind/capture/odd_x86_64.h"

static uint32_t add_run(const undead_known_pc *inner, uint32_t frames) {
  uint32_t node = undead_store_runs();
  for (uint32_t index = frames; index > 0 && node; index--) node = undead_store_child(node, inner[index - 1].pc_index);
  return node;
}

// Whole stacks that are no deeper than a run.
static uint32_t capture_short(const undead_known_pc *inner, uint32_t frames) {
  uint32_t run = add_run(inner, frames);
  return run ? undead_store_child(UNDEAD_TRIE_ROOT, run | UNDEAD_RUN_BIT) : 0;
}

// Keeps where the two frames lie that `start` leads to; `slots` are those where they saved rbp, if they did.
static void keep_pair(undead_known_pair *pair, const undead_frame states[3], const undead_known_pc *inner,
                      const uintptr_t *const slots[2]) {
  const undead_frame *start = &states[0], *middle = &states[1];
  uintptr_t sp = start->sp, slot = slots[1] ? (uintptr_t)slots[1] : (uintptr_t)slots[0];
  uintptr_t span = states[2].sp - sp, outer_bp_slot = (uintptr_t)slots[0] - sp;
  pair->pc[0] = 0;
  if (span > INT32_MAX || (slots[0] && outer_bp_slot >= span) || (slot && slot - sp >= span)) return;
  bool outer_rule_uses_bp = inner[1].rule & UNDEAD_RULE_BP;
  bool uses_bp = inner[0].rule & UNDEAD_RULE_BP || (outer_rule_uses_bp && !slots[0]);
  pair->bp_distance = start->bp - sp;
  pair->bp_mask = uses_bp ? ~(uintptr_t)0 : 0;
  pair->outer_bp_slot = slots[0] ? (uint32_t)outer_bp_slot : 0;
  pair->outer_bp_distance = middle->bp - sp;
  pair->outer_bp_mask = outer_rule_uses_bp && slots[0] ? ~(uintptr_t)0 : 0;
  pair->pc_slot = (uint32_t)(middle->sp - 8 - sp);
  pair->bp_slot = slot ? (uint32_t)(slot - sp) : UNDEAD_NO_SLOT;
  pair->span = (uint32_t)span;
  pair->pc[1] = inner[1].pc;
  pair->pc[0] = inner[0].pc;
}

// The pair's own entry if it has one (with other distances), else any of its set.
static undead_known_pair *pair_to_replace(undead_unwind_cache *cache, const undead_known_pc *inner) {
  undead_known_pair *set = pairs_of(cache, inner[0].pc);
  for (uint32_t index = 0; index < UNDEAD_KNOWN_PAIRS; index++)
    if (set[index].pc[0] == inner[0].pc && set[index].pc[1] == inner[1].pc) return &set[index];
  return &set[cache->next_pair++ % UNDEAD_KNOWN_PAIRS];
}

// Walks the frames of a site; returns how many there are, 0 if the stack cannot be captured here. Of the outermost of
// them `frame` is the state, of the others `states`, and `slots` where they saved rbp; `odd` if not all rules are plain.
static uint32_t walk_to_site(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame *frame, undead_known_pc *inner,
                     undead_frame *states, const uintptr_t **slots, bool *odd) {
  undead_link link = {0};
  for (uint32_t index = 0; index < UNDEAD_RUN_FRAMES; index++) {
    const undead_known_pc *known = know_pc(cache, frame->pc);
    if (UNLIKELY(!known)) return 0;
    inner[index] = *known;
    states[index] = *frame;
    if (UNLIKELY(!is_plain(known->rule))) {
      *odd = true;
      if (undead_rule_is_end(known->rule)) return index + 1;
    }
    if (index + 1 == UNDEAD_RUN_FRAMES) break;
    undead_odd_step stepped = step_any(frame, &link, known->rule, stack_high);
    if (UNLIKELY(stepped != UNDEAD_ODD_STEPPED)) return stepped == UNDEAD_ODD_END ? index + 1 : 0;
    slots[index] = link.bp_slot;
  }
  return UNDEAD_RUN_FRAMES;
}

const undead_known_site *undead_site_learn(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame *frame,
                                           bool from_loader, uint32_t *id) {
  undead_known_pc inner[UNDEAD_RUN_FRAMES];
  undead_frame states[UNDEAD_RUN_FRAMES];
  const uintptr_t *slots[UNDEAD_RUN_FRAMES];
  bool odd = false;
  *id = 0;
  uint32_t frames = walk_to_site(cache, stack_high, frame, inner, states, slots, &odd);
  if (UNLIKELY(!frames)) return NULL;
  if (UNLIKELY(frames < UNDEAD_RUN_FRAMES || undead_rule_is_end(inner[frames - 1].rule))) {
    *id = capture_short(inner, frames);
    return NULL;
  }
  if (UNLIKELY(inner[0].rule & UNDEAD_RULE_LOADER)) {
    if (!from_loader) return NULL;
  } else if (!odd) {
    keep_pair(pair_to_replace(cache, inner), states, inner, slots);
  }
  undead_known_site *site = site_of(cache, inner[1].pc, inner[2].pc);
  if (site->pc[0] == inner[0].pc && site->pc[1] == inner[1].pc && site->pc[2] == inner[2].pc) return site;
  uint32_t run = add_run(inner, UNDEAD_RUN_FRAMES);
  if (!run) return NULL;
  *site = (undead_known_site){{inner[0].pc, inner[1].pc, inner[2].pc}, inner[2].rule, run};
  return site;
}
